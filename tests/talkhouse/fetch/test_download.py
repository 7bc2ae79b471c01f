"""What a server may do while a file is fetched: the file comes right in the end, or a message says why not."""

import gzip
import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace

import py7zr
import pytest

from talkhouse.fetch import download
from talkhouse.fetch.client import Patience
from talkhouse.fetch.places import Fetched
from talkhouse.schema.errors import FetchFailed
from tests.file_server import File, invented
from tests.talkhouse.fetch.conftest import QUICK, Folder

BODY, OTHER = invented(200_000), invented(180_000, "other")
SUM = hashlib.sha256(BODY).hexdigest()
PAGE = b"<!DOCTYPE html><html><head><title>Sorry</title></head><body><p>Too many   people.</p></body></html>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
FORM = (
    '<html><title>Virus scan warning</title><form id="download-form" action="{action}" method="get">'
    '<input type="submit" value="Download anyway"/><input type="hidden" name="id" value="x y">'
    '<input type="hidden" name="confirm" value="t">'
    "</form></html>"
)
SLOW = pytest.mark.slow


def of(body: bytes = BODY, etag: str | None = '"1"', **options: object) -> File:
    return File([(body, etag)], **options)  # type: ignore[arg-type]


def archive(content: bytes = BODY) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("talks.txt", content)
    return stream.getvalue()


def packed(content: bytes = BODY) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        info = tarfile.TarInfo("talks.txt")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def test_a_file_that_is_cut_is_continued_and_in_its_place_only_when_it_is_whole(folder: Folder) -> None:
    folder.server.files["/talks.bin"] = of(cuts=[100_000, 50_000])
    (fetched,) = folder.fetch(folder.source("talks.bin"))
    assert isinstance(fetched, Fetched)
    assert folder.path("talks.bin").read_bytes() == BODY
    asked = [(headers.get("Range"), headers.get("If-Range")) for _, headers in folder.server.requests]
    assert asked == [(None, None), ("bytes=100000-", '"1"'), ("bytes=150000-", '"1"')]
    assert (fetched.bytes, fetched.sha256, fetched.is_published) == (len(BODY), SUM, False)
    assert folder.shown.bytes == len(BODY)
    assert folder.left() == []


def test_the_next_run_continues(folder: Folder) -> None:
    folder.server.files["/talks.bin"] = file = of(cuts=[100_000], cut_always=0)
    (failed,) = folder.fetch(folder.source("talks.bin"))
    assert isinstance(failed, FetchFailed)
    assert "broke off" in failed.what
    assert "the part already fetched is kept" in str(failed.next_step)
    assert not folder.path("talks.bin").exists()
    assert folder.left() == ["talks.bin.part", "talks.bin.part.json"]
    file.cut_always = None
    assert isinstance(folder.fetch(folder.source("talks.bin"))[0], Fetched)
    assert folder.server.requests[-1][1]["Range"] == "bytes=100000-"
    assert folder.path("talks.bin").read_bytes() == BODY


MODIFIED = "Mon, 02 Nov 2026 10:00:00 GMT"
BUSY = {"Retry-After": "0"}


@pytest.mark.parametrize(
    ("file", "sha256"),
    [
        (of(cuts=[40_000, 40_000, 40_000, 40_000]), None),
        (of(cuts=[40_000], has_ranges=False), None),
        (of(cuts=[40_000], etag=None, last_modified=MODIFIED), None),
        (of(cuts=[40_000], etag='W/"1"', last_modified=MODIFIED), None),
        (of(cuts=[40_000], etag=None), None),
        (of(cuts=[40_000], etag=None), SUM),
        (File([(OTHER, '"0"'), (BODY, '"1"')], cuts=[40_000]), None),
        (File([(OTHER, '"0"'), (BODY, '"1"')], cuts=[40_000], has_if_range=False), None),
        (File([(OTHER, None), (BODY, None)], cuts=[40_000]), SUM),
        (File([(BODY[::-1], None), (BODY, None)], cuts=[40_000]), SUM),
        (of(has_length=False), None),
        (of(has_length=False, cuts=[40_000]), SUM),
        (of(chunked=True), None),
        (of(chunked=True, cuts=[100_000]), None),
        (of(packed=True), SUM),
        (of(packed=True, cuts=[40_000]), SUM),
        (of(replies=[(503, BUSY, b""), (429, BUSY, b""), (500, {}, PAGE), (408, {}, b"")]), None),
        (of(replies=[(429, {"Retry-After": "soon"}, b"")]), None),
        (of(replies=[(301, {"Location": "talks.bin#part"}, b""), (307, {"Location": "/talks.bin"}, b"")]), None),
    ],
    ids=[
        *("four cuts", "no ranges", "by time", "a weak ETag", "no validator", "only a checksum"),
        *("changed", "changed without If-Range", "another length without ETag", "changed without a sign"),
        *("no length", "no length and cut", "chunks", "chunks and cut", "packed for the way", "packed and cut"),
        *("busy", "busy", "redirects"),
    ],
)
def test_it_comes_right_in_the_end(folder: Folder, file: File, sha256: str | None) -> None:
    folder.server.files["/talks.bin"] = file
    (fetched,) = folder.fetch(folder.source("talks.bin", sha256))
    assert isinstance(fetched, Fetched), fetched
    assert folder.path("talks.bin").read_bytes() == BODY
    assert folder.left() == []


@SLOW
@pytest.mark.parametrize("wrong", ["bytes 0-199999/200000", "bytes 100000-199999/999999", "bytes 1-2", "nothing"])
def test_an_answer_that_is_not_the_rest_is_not_joined(folder: Folder, wrong: str) -> None:
    folder.server.files["/talks.bin"] = of(cuts=[100_000], wrong_range=wrong)
    (fetched,) = folder.fetch(folder.source("talks.bin"))
    assert isinstance(fetched, Fetched), fetched
    assert folder.path("talks.bin").read_bytes() == BODY


def test_an_archive_that_is_said_to_be_packed_for_the_way_stays_as_it_is(folder: Folder) -> None:
    folder.server.files["/talks.tar.gz"] = of(packed(), encoding="gzip")
    (fetched,) = folder.fetch(folder.source("talks.tar.gz"))
    assert isinstance(fetched, Fetched), fetched
    assert gzip.decompress(folder.path("talks.tar.gz").read_bytes()).startswith(b"talks.txt")


@pytest.mark.parametrize("is_readable", [True, False])
def test_an_archive_may_be_of_another_kind_than_its_name(
    folder: Folder, is_readable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.BytesIO()
    with py7zr.SevenZipFile(stream, "w") as archive:
        archive.writestr(BODY, "talks.txt")
    if not is_readable:  # without py7zr nothing can be said of it, and it is kept
        monkeypatch.setitem(sys.modules, "py7zr.exceptions", None)
    for name, content in (("talks.zip", stream.getvalue()), ("talks.7z", packed())):
        folder.server.files[f"/{name}"] = of(content)
        (fetched,) = folder.fetch(folder.source(name))
        assert isinstance(fetched, Fetched), fetched
    if is_readable:
        folder.server.files["/x.7z"] = of(stream.getvalue().replace(BODY[-50:], bytes(50)))
        (failed,) = folder.fetch(folder.source("x.7z"))
        assert "another checksum than the archive says" in str(failed)


def test_a_file_whose_end_an_earlier_run_had_is_not_asked_for_again(folder: Folder) -> None:
    folder.server.files["/talks.bin"] = of(cuts=[0], cut_always=0)
    folder.fetch(folder.source("talks.bin"))
    (folder.data / ".talkhouse-fetch" / "talks" / "talks.bin.part").write_bytes(BODY)
    asked = len(folder.server.requests)
    assert isinstance(folder.fetch(folder.source("talks.bin"))[0], Fetched)
    assert len(folder.server.requests) == asked


def test_a_server_without_the_rest_of_a_whole_file_ends_it(folder: Folder) -> None:
    # Without a length, only the answer 416 tells that all bytes are here.
    folder.server.files["/talks.bin"] = of(has_length=False)
    state = folder.data / ".talkhouse-fetch" / "talks"
    state.mkdir(parents=True)
    (state / "talks.bin.part").write_bytes(BODY)
    (state / "talks.bin.part.json").write_text(
        f'{{"url": "{folder.server.url}/talks.bin", "validator": "\\"1\\"", "total": null}}'
    )
    assert isinstance(folder.fetch(folder.source("talks.bin"))[0], Fetched)
    assert [headers["Range"] for _, headers in folder.server.requests] == [f"bytes={len(BODY)}-"]


CIRCLE = [(302, {"Location": "/talks.zip"}, b"")]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (File([], replies=[(404, HTML, PAGE)]), ("no such file", "404 ", "--sources FILE")),
        (File([], replies=[(410, {}, b"")]), ("no such file any more", "410 Gone")),
        (File([], replies=[(401, {}, b"")]), ("without an account", "401 ")),
        (File([], replies=[(403, {}, b"")]), ("refuses", "403 Forbidden")),
        (File([], replies=[(400, {}, b"")]), ("something else", "400 ")),
        (File([], replies=[(204, {}, b"")]), ("something else", "204 ")),
        (File([], replies=[(304, {}, b"")]), ("something else", "304 ")),
        (File([], replies=[(429, {"Retry-After": "3600"}, b"")]), ("too many requests", "again in 60 minutes, as it")),
        (File([], replies=[(429, {"Retry-After": "86400"}, b"")]), ("too many requests", "again in 24 hours, as it")),
        (File([], replies=[(500, {}, b"")]), ("the server fails", "500 ", "5 times in a row", "later")),
        (File([], replies=CIRCLE), ("redirects in a circle", "10 redirects")),
        (File([], replies=[(302, {"Location": "file:///etc/passwd"}, b"")]), ("an invalid address", "file:///etc")),
        (File([], replies=[(302, {"Location": "ftp://x/y"}, b"")]), ("an invalid address", "ftp://x/y")),
        (
            File([], replies=[(302, {"Location": "http://a:b@x/y?t=1"}, b"")]),
            ("an invalid address", "http://...@x/y?..."),
        ),
        (File([], replies=[(302, {"Location": "http://[::1"}, b"")]), ("answer can't be read",)),
        (File([], replies=[(200, HTML, PAGE)]), ("a web page came", "'Sorry'", "Too many people.")),
        (File([], replies=[(200, {}, PAGE)]), ("a web page came", "DOCTYPE")),
        (File([], replies=[(200, {}, b"")]), ("the file is empty",)),
        (of(), ("can't be opened as an archive",)),
        (of(archive()[:-1]), ("can't be opened as an archive",)),
        (of(archive().replace(BODY[:50], bytes(50))), ("can't be opened as an archive", "begins with b'PK")),
        (of(b"Rar!" + BODY), ("can't be opened as an archive", "it is a RAR archive", "begins with b'Rar!")),
        (of(archive(), cut_always=40_000, has_ranges=False), ("broke off", "5 times in a row")),
        (of(archive(), cut_always=40_000, has_length=False, has_ranges=False), ("can't be opened",)),
        (File([(BODY, f'"{n}"') for n in range(9)], cut_always=9_000), ("changed on the server", "each time")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_can_not_be_had_is_told_with_what_to_do(folder: Folder, file: File, words: tuple[str, ...]) -> None:
    folder.server.files["/talks.zip"] = file
    (failed,) = folder.fetch(folder.source("talks.zip"))
    assert isinstance(failed, FetchFailed), failed
    assert all(word in str(failed) for word in words), str(failed)
    assert failed.where == folder.path("talks.zip")
    by_hand = f"by hand from {folder.server.url}/talks.zip (about it: https://example.org/talks)"
    assert f"{by_hand}, and put it at {folder.path('talks.zip')}" in str(failed.next_step)
    assert not folder.path("").exists()


@pytest.mark.parametrize(
    ("sha256", "size", "words"),
    [
        ("0" * 64, None, ("another checksum", f"SHA-256 {SUM}", "SHA-256 " + "0" * 64)),
        (None, 199_999, ("another size", "200,000 bytes", "199,999 bytes")),
        (SUM, 200_001, ("another size", "200,000 bytes", "200,001 bytes")),
    ],
)
def test_another_file_is_not_kept(folder: Folder, sha256: str | None, size: int | None, words: tuple[str, ...]) -> None:
    folder.server.files["/talks.bin"] = of()
    (failed,) = folder.fetch(folder.source("talks.bin", sha256, size))
    assert isinstance(failed, FetchFailed)
    assert all(word in str(failed) for word in words), str(failed)
    assert len(folder.server.requests) == 1
    assert folder.left() == []
    assert not folder.path("").exists()


def test_no_more_is_taken_than_a_file_may_have(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MOST", 100_000)
    sizes: list[Callable[[], File]] = [of, lambda: of(has_length=False), lambda: of(bytes(10**7), packed=True)]
    for number, make in enumerate(sizes):
        folder.server.files[f"/{number}.bin"] = make()
        (failed,) = folder.fetch(folder.source(f"{number}.bin"))
        assert isinstance(failed, FetchFailed)
        assert "exceeds the size limit" in failed.what
    assert folder.left() == []
    assert folder.shown.bytes <= 10**6


@pytest.mark.parametrize("action", ["/anyway", "{server}/anyway?lost=1"])
def test_the_question_whether_a_large_file_is_wanted_is_answered(folder: Folder, action: str) -> None:
    form = FORM.format(action=action.format(server=folder.server.url))
    folder.server.files["/talks.bin?id=1"] = File([], replies=[(200, HTML, form.encode())])
    folder.server.files["/anyway?id=x+y&confirm=t"] = of(cuts=[100_000])
    (fetched,) = folder.fetch(replace(folder.source("talks.bin"), url=f"{folder.server.url}/talks.bin?id=1"))
    assert isinstance(fetched, Fetched), fetched
    assert folder.path("talks.bin").read_bytes() == BODY
    assert [path for path, _ in folder.server.requests] == ["/talks.bin?id=1", "/anyway?id=x+y&confirm=t"] * 2
    assert folder.server.requests[-1][1]["Range"] == "bytes=100000-"


@pytest.mark.parametrize(
    "action", ["http://127.0.0.2:9/anyway", "file:///etc/passwd", "https://drive.usercontent.google.com/download"]
)
def test_a_question_of_another_server_is_not_answered(folder: Folder, action: str) -> None:
    folder.server.files["/talks.bin"] = File([], replies=[(200, HTML, FORM.format(action=action).encode())])
    (failed,) = folder.fetch(folder.source("talks.bin"))
    assert isinstance(failed, FetchFailed)
    assert "'Virus scan warning'" in str(failed)
    assert len(folder.server.requests) == 1


def test_a_page_after_the_answer_is_told(folder: Folder) -> None:
    folder.server.files["/talks.bin"] = File([], replies=[(200, HTML, FORM.format(action="/anyway").encode())])
    folder.server.files["/anyway?id=x+y&confirm=t"] = File([], replies=[(200, HTML, PAGE)])
    (failed,) = folder.fetch(folder.source("talks.bin"))
    assert isinstance(failed, FetchFailed)
    assert "'Sorry': Too many people." in str(failed)


@SLOW
def test_a_server_that_falls_silent_is_asked_again(folder: Folder) -> None:
    folder.server.files["/talks.bin"] = of(cuts=[100_000], stall=True)
    (fetched,) = folder.fetch(folder.source("talks.bin"), patience=Patience(timeout=1, pause=0.001))
    assert isinstance(fetched, Fetched)
    assert folder.path("talks.bin").read_bytes() == BODY


def test_times_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALKHOUSE_FETCH_TIMEOUT", "7")
    monkeypatch.setenv("TALKHOUSE_FETCH_PAUSE", "-1")
    assert Patience.of_environment() == Patience(timeout=7, pause=0.5)
    assert QUICK.pause < Patience().pause
