"""Files in a data folder: what is there is left, what was fetched is recorded, and nothing else is sent or written."""

import hashlib
import re
import resource
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from talkhouse.fetch.client import NotFetched, check_redirect
from talkhouse.fetch.fetch import fetch, plan
from talkhouse.fetch.places import Fetched, read_record, sources_of
from talkhouse.ingest.corpus import Source
from talkhouse.ingest.registry import corpora
from talkhouse.schema.errors import FetchFailed, OutputFailed, SourceError, UsageError
from talkhouse.system.files import locked
from tests.data_files import data_of
from tests.file_server import File, invented
from tests.talkhouse.fetch.conftest import QUICK, Folder

BODY = invented(200_000)
SUM = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def served(folder: Folder) -> Folder:
    folder.server.files["/talks.bin"] = File([(BODY, '"1"')])
    return folder


def put(served: Folder, content: bytes) -> None:
    served.path("").mkdir(parents=True, exist_ok=True)
    served.path("talks.bin").write_bytes(content)


def test_what_was_fetched_is_recorded(served: Folder) -> None:
    served.server.files["/old"] = File([], replies=[(301, {"Location": "/talks.bin?key=1"}, b"")])
    served.server.files["/talks.bin?key=1"] = File([(BODY, None)])
    served.fetch(replace(served.source("in/talks.bin", SUM), url=f"{served.server.url}/old"))
    ((path, record),) = read_record(served.data / ".talkhouse-fetch" / "talks.json").items()
    assert path == record.path == "in/talks.bin"
    assert (record.bytes, record.sha256, record.is_published) == (len(BODY), SUM, True)
    assert (record.url, record.moved_to) == (f"{served.server.url}/old", f"{served.server.url}/talks.bin?...")
    assert served.path("in/talks.bin").read_bytes() == BODY
    assert served.left() == []


@pytest.mark.parametrize("sha256", [None, SUM])
def test_a_good_file_is_not_fetched_again(served: Folder, sha256: str | None) -> None:
    put(served, BODY)
    assert served.fetch(served.source("talks.bin", sha256, len(BODY))) == []
    assert served.server.requests == []


def test_an_archive_that_was_unpacked_is_there(served: Folder) -> None:
    source = replace(served.source("talks.bin", SUM), holds=("a.txt", "b.txt"))
    put(served, BODY)
    served.path("talks.bin").rename(served.path("a.txt"))
    assert served.fetch(source) != []
    served.path("talks.bin").unlink()
    served.server.requests.clear()
    served.path("sub").mkdir()
    served.path("sub/b.txt").write_text("b")
    assert served.fetch(source) == []
    assert served.server.requests == []


@pytest.mark.parametrize(
    ("content", "sha256", "size", "words"),
    [
        (b"mine", SUM, None, "another checksum"),
        (b"mine", None, 5, "another size"),
        (b" <html>", None, None, "a web page came"),
        (b"", None, None, "empty"),
    ],
)
def test_another_file_is_left_as_it_is(
    served: Folder, content: bytes, sha256: str | None, size: int | None, words: str
) -> None:
    put(served, content)
    (failed,) = served.fetch(served.source("talks.bin", sha256, size))
    assert isinstance(failed, FetchFailed)
    assert words in failed.what
    assert "left as it is" in failed.what
    for word in (served.server.url, served.corpus.homepage, str(served.path("talks.bin"))):
        assert word in str(failed)
    assert served.path("talks.bin").read_bytes() == content
    assert served.server.requests == []


def test_the_first_checksum_is_held_against_later_ones(served: Folder) -> None:
    source = served.source("talks.bin")
    assert isinstance(served.fetch(source)[0], Fetched)
    served.path("talks.bin").write_bytes(b"changed")
    (failed,) = served.fetch(source)
    assert "left as it is" in str(failed)
    served.path("talks.bin").unlink()
    served.server.files["/talks.bin"] = File([(BODY[::-1], '"2"')])
    (failed,) = served.fetch(source)
    assert isinstance(failed, FetchFailed)
    record = served.data / ".talkhouse-fetch" / "talks.json"
    assert f"SHA-256 {SUM}, recorded at 2" in str(failed.expected)
    assert str(record) in str(failed.expected)
    assert "remove that record" in str(failed.next_step)
    record.unlink()
    assert isinstance(served.fetch(source)[0], Fetched)


def test_all_files_are_tried_but_no_server_that_is_down(served: Folder) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{taken.getsockname()[1]}"
        outcomes = served.fetch(
            Source("one.bin", f"{down}/one.bin"), Source("two.bin", f"{down}/two.bin"), served.source("talks.bin")
        )
    assert [type(outcome) for outcome in outcomes] == [FetchFailed, FetchFailed, Fetched]
    assert "can't be reached: no network, no such server" in str(outcomes[0])
    assert "Connection refused, 5 times in a row" in str(outcomes[0])
    assert "not tried, since 127.0.0.1:" in str(outcomes[1])


def test_a_server_without_its_certificate_is_not_asked_twice(served: Folder) -> None:
    source = replace(served.source("talks.bin"), url=served.server.url.replace("http:", "https:") + "/talks.bin")
    (failed,) = served.fetch(source)
    assert "certificate can't be verified" in str(failed)


def test_no_password_of_the_user_is_sent(served: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\ndefault login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    url = served.server.url.replace("127.0.0.1", "localhost")
    served.server.files["/old"] = File([], replies=[(302, {"Location": f"{url}/talks.bin"}, b"")])
    (fetched,) = served.fetch(replace(served.source("talks.bin"), url=f"{served.server.url}/old"))
    assert isinstance(fetched, Fetched), fetched
    sent = [{name.lower() for name in headers} for _, headers in served.server.requests]
    assert len(sent) == 2
    assert all(names <= {"host", "user-agent", "accept", "accept-encoding", "connection"} for names in sent), sent


def test_the_proxy_of_the_environment_is_asked(served: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", served.server.url)
    served.server.files["http://talks.invalid/talks.bin"] = File([(BODY, None)])
    (fetched,) = served.fetch(Source("talks.bin", "http://talks.invalid/talks.bin", SUM))
    assert isinstance(fetched, Fetched), fetched


@pytest.mark.parametrize(
    "target",
    ["http://example.org/x", "file:///etc/passwd", "ftp://example.org/x", "data:,x", "https://me:secret@x/y", "https:"],
)
def test_redirects_stay_encrypted_and_lead_to_servers(target: str) -> None:
    check_redirect("http://example.org/x", "https://example.net/y")
    check_redirect("https://example.org/x", "https://example.net/y")
    with pytest.raises(NotFetched, match="redirects") as caught:
        check_redirect("https://example.org/x", target)
    assert "secret" not in caught.value.found


def test_a_full_disk_is_told_and_what_is_here_is_kept(served: Folder) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OutputFailed, match="the part already fetched is kept") as caught:
            served.fetch(served.source("talks.bin"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.where == served.path("talks.bin")
    assert isinstance(served.fetch(served.source("talks.bin"))[0], Fetched)
    assert served.server.requests[-1][1]["Range"] == "bytes=100000-"


def test_two_do_not_fetch_at_once(served: Folder) -> None:
    (served.data / ".talkhouse-fetch").mkdir(parents=True)
    with (
        locked(served.data / ".talkhouse-fetch" / "talks.lock"),
        pytest.raises(UsageError, match="another process is fetching this corpus"),
    ):
        served.fetch(served.source("talks.bin"))
    assert served.server.requests == []


def test_a_file_that_appears_meanwhile_is_left(served: Folder) -> None:
    request = plan(served.corpus, [served.source("talks.bin")], served.data)
    put(served, b"mine")
    (failed,) = fetch(request, served.shown, QUICK)
    assert "the file has appeared in the meantime" in str(failed)
    assert served.path("talks.bin").read_bytes() == b"mine"


def test_nothing_is_written_through_links(served: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    parts = served.data / ".talkhouse-fetch" / "talks"
    parts.mkdir(parents=True)
    (outside / "mine").write_text("mine")
    (parts / "talks.bin.part").symlink_to(outside / "mine")
    assert isinstance(served.fetch(served.source("talks.bin"))[0], Fetched)
    assert (outside / "mine").read_text() == "mine"
    (served.data / ".talkhouse-fetch" / "talks").symlink_to(outside)
    with pytest.raises(UsageError, match="this is a link"):
        served.fetch(served.source("more.bin"))
    assert [path.name for path in outside.iterdir()] == ["mine"]


def test_a_data_folder_that_can_not_be_one_is_told(served: Folder) -> None:
    served.data.write_text("a file")
    with pytest.raises(UsageError, match="the data path is not a folder"):
        served.fetch(served.source("talks.bin"))


def test_a_damaged_record_is_told(served: Folder) -> None:
    (served.data / ".talkhouse-fetch").mkdir(parents=True)
    (served.data / ".talkhouse-fetch" / "talks.json").write_text('{"corpus": 1}')
    with pytest.raises(SourceError, match="the record of what was fetched can't be read"):
        served.fetch(served.source("talks.bin"))


@pytest.mark.parametrize("corpus_id", corpora())
def test_what_corpora_declare_can_be_fetched(corpus_id: str) -> None:
    corpus = corpora()[corpus_id]
    assert sources_of(corpus, None) == corpus.sources, "a path that leads out, or a scheme that nobody fetches"
    assert corpus.sources or corpus.by_hand
    assert [source.path for source in corpus.sources if not (source.sha256 or source.note)] == []
    assert all(re.fullmatch("[0-9a-f]{64}", source.sha256) for source in corpus.sources if source.sha256)


def test_what_anybody_could_change_on_the_way_is_not_asked_for(served: Folder, tmp_path: Path) -> None:
    open_to_changes = Source("open.bin", "http://talks.invalid/open.bin")
    failed, fetched = served.fetch(open_to_changes, served.source("talks.bin"))
    assert isinstance(failed, FetchFailed)
    assert "by http, where anybody on the way can change it" in failed.what
    for word in (open_to_changes.url, served.corpus.homepage, str(served.path("open.bin"))):
        assert word in str(failed)
    assert isinstance(fetched, Fetched), "the other files come all the same"
    put(replace(served, data=tmp_path / "mine"), BODY)
    assert plan(served.corpus, [replace(open_to_changes, path="talks.bin")], tmp_path / "mine").wrong == ()


@pytest.mark.parametrize(("text", "words"), data_of(__file__)["addresses_that_are_never_fetched"])
def test_addresses_that_are_never_fetched(folder: Folder, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "sources.json").write_text(text)
    with pytest.raises(UsageError, match=words):
        sources_of(folder.corpus, tmp_path / "sources.json")


def test_addresses_of_a_users_own(folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "sources.json"
    file.write_text('{"talks": [{"path": "a/b.zip", "url": "http://x/y", "sha256": "%s", "size": 1}]}' % ("AB" * 32))
    assert sources_of(folder.corpus, file) == (Source("a/b.zip", "http://x/y", "ab" * 32, size=1),)
    assert sources_of(replace(folder.corpus, id="others"), file) == folder.corpus.sources
