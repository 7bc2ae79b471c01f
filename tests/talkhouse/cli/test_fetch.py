"""The command: terms first, then files, then a build that takes them and nothing else."""

import json
import os
import pty
import signal
import subprocess
import time
from hashlib import sha256
from pathlib import Path

import pytest

from talkhouse.ingest.registry import corpora, sample_of
from tests.commands import COMMAND, read_terminal, run
from tests.file_server import File, FileServer, invented
from tests.samples import GROUPS, POSTS, RELEASES

SLOW = pytest.mark.slow
ENVIRONMENT = {"TALKHOUSE_FETCH_PAUSE": "0.001", "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
BODY = invented(200_000)


@pytest.fixture
def addresses(server: FileServer, tmp_path: Path) -> Path:
    """Addresses of the files of two corpora's samples, which the server has, and of a file of a third."""
    sources: dict[str, list[dict[str, str | None]]] = {POSTS: [{"path": "a.bin", "url": f"{server.url}/a.bin"}]}
    for corpus_id in (RELEASES, GROUPS):
        sample = sample_of(corpora()[corpus_id])
        sources[corpus_id] = []
        for path in sorted(path for path in sample.rglob("*") if path.is_file()):
            inside, content = path.relative_to(sample).as_posix(), path.read_bytes()
            address = f"/{corpus_id}/{len(server.files)}"
            server.files[address] = File([(content, None)])
            digest = sha256(content).hexdigest() if len(server.files) % 2 else None
            sources[corpus_id].append({"path": inside, "url": server.url + address, "sha256": digest})
    server.files["/a.bin"] = File([(BODY, '"1"')])
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    return tmp_path / "sources.json"


def fetch(*words: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    return run("fetch", *words, cwd=folder, env=ENVIRONMENT)


def test_terms_come_first_and_good_files_are_not_fetched_again(addresses: Path, server: FileServer) -> None:
    folder, corpus = addresses.parent, corpora()[POSTS]
    refused = fetch(POSTS, "--sources", addresses, folder=folder)
    assert refused.returncode == 1
    assert corpus.terms in refused.stdout
    assert f"{corpus.licence} ({corpus.licence_url})" in refused.stdout
    assert f"a.bin from {server.url}/a.bin, no checksum is published" in refused.stdout
    assert f"the terms of {POSTS} are not accepted; nothing was fetched" in refused.stderr
    assert "--accept-terms" in refused.stderr
    assert (server.requests, sorted(path.name for path in folder.iterdir())) == ([], ["sources.json"])

    fetched = fetch(POSTS, "--sources", addresses, "--accept-terms", folder=folder)
    assert (fetched.returncode, fetched.stderr) == (0, "")
    digest = sha256(BODY).hexdigest()
    assert f"fetched corpora/{POSTS}/a.bin: 200.0 kB, SHA-256 {digest} (recorded, for none" in fetched.stdout
    assert fetched.stdout.endswith("Next:\n  talkhouse build --data corpora\n")
    assert (folder / "corpora" / POSTS / "a.bin").read_bytes() == BODY

    asked = len(server.requests)
    again = fetch(POSTS, "--sources", addresses, folder=folder)
    assert (again.returncode, again.stderr) == (0, "")
    assert f"there already: corpora/{POSTS}/a.bin" in again.stdout
    assert len(server.requests) == asked


@SLOW
def test_a_build_takes_what_was_fetched_and_nothing_else(addresses: Path) -> None:
    folder = addresses.parent
    environment = {**ENVIRONMENT, "TALKHOUSE_SOURCES": str(addresses)}
    for corpus_id in (RELEASES, GROUPS):
        done = run("fetch", corpus_id, "--data", "mine", "--accept-terms", cwd=folder, env=environment)
        assert done.returncode == 0, done.stderr
        paths = [path for path in (folder / "mine" / corpus_id).rglob("*") if path.is_file()]
        assert len(paths) == len(json.loads(addresses.read_text())[corpus_id])
    (folder / "mine" / ".talkhouse-fetch" / RELEASES).mkdir()  # as after a fetch that was cut
    (folder / "mine" / ".talkhouse-fetch" / RELEASES / "DBDC3.zip.part").write_bytes(b"PK")
    built = run("build", "--data", "mine", "--db", "w.duckdb", cwd=folder)
    assert built.returncode == 0, built.stderr
    assert "ignored the folder" not in built.stdout + built.stderr
    rows = "select count(*) filter (rule = 'TH-05') from meta.findings"
    assert run("sql", rows, "--db", "w.duckdb", "--format", "csv", cwd=folder).stdout.split()[-1] == "0"


@SLOW
def test_every_failure_is_told_and_what_can_be_had_is_there(addresses: Path, server: FileServer) -> None:
    del server.files[f"/{RELEASES}/0"]
    done = fetch(RELEASES, "--sources", addresses, "--accept-terms", folder=addresses.parent)
    named = json.loads(addresses.read_text())[RELEASES]
    assert done.returncode == 1
    assert done.stderr.count("error:") == 1
    assert f"corpora/{RELEASES}/{named[0]['path']}: the server has no such file" in done.stderr
    assert done.stdout.count(f"\nfetched corpora/{RELEASES}/") == len(named) - 1
    assert f"By hand: {corpora()[RELEASES].by_hand}" in done.stdout
    assert "Next:" not in done.stdout


def test_a_corpus_without_addresses_says_how_to_get_it(tmp_path: Path) -> None:
    done = fetch(GROUPS, "--accept-terms", folder=tmp_path)
    assert done.returncode == 1
    assert f"no file of {GROUPS} can be fetched" in done.stderr
    assert corpora()[GROUPS].by_hand in done.stderr
    assert f"corpora/{GROUPS}" in done.stderr
    assert list(tmp_path.iterdir()) == []


@SLOW
@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\x04", 1)])
def test_a_terminal_is_asked(addresses: Path, server: FileServer, answer: bytes, code: int) -> None:
    leader, follower = pty.openpty()
    os.write(leader, answer)
    words = ["fetch", POSTS, "--sources", str(addresses)]
    environment = {**os.environ, **ENVIRONMENT, "TERM": "xterm"}
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=addresses.parent, env=environment, stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    shown = read_terminal(leader)
    assert process.wait() == code, shown
    assert b"Do you accept the licence and the terms?" in shown
    assert (addresses.parent / "corpora" / POSTS / "a.bin").exists() == (code == 0)
    assert bool(server.requests) == (code == 0)


@SLOW
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_was_here_when_it_ended_is_continued(addresses: Path, server: FileServer, number: signal.Signals) -> None:
    folder = addresses.parent
    server.files["/a.bin"] = File([(BODY, '"1"')], cuts=[100_000], stall=True)
    words = [*COMMAND, "fetch", POSTS, "--sources", str(addresses), "--accept-terms"]
    environment = {**os.environ, **ENVIRONMENT}
    process = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert server.stalled.wait(300)
    part = folder / "corpora" / ".talkhouse-fetch" / POSTS / "a.bin.part"
    while process.poll() is None and not (part.exists() and part.stat().st_size):
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert errors.decode().strip() == (
            "interrupted; what is here of the files is kept, and the same command continues with it"
        )
    assert not (folder / "corpora" / POSTS).exists()
    server.files["/a.bin"].stall = False
    done = fetch(POSTS, "--sources", addresses, "--accept-terms", folder=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "corpora" / POSTS / "a.bin").read_bytes() == BODY
    assert "Range" in server.requests[-1][1]
