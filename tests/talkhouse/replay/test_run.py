"""The quarantine, read again after a reader or a rule has changed: from the warehouse alone, whole or not at all."""

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import talkhouse
from talkhouse import migrations
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.replay import ReplayResult, replay
from talkhouse.schema.errors import BuildFailed, TooMuchQuarantined, UsageError, WarehouseMissing
from tests.commands import run
from tests.conftest import wait_for
from tests.migrations.test_migrations import downgrade, revision
from tests.talkhouse.load.test_run import contents, fetch, identity
from tests.talkhouse.toy import built, declare

DBDC3 = corpora()["dbdc3"]
FACTS = "select source_file_id, sha256, size, modified_at, mtime_ns, inode from meta.source_files order by all"
LEFT = "select pointer, rule from meta.quarantine where source_file_id = 'toy/one.txt' order by all"


@pytest.fixture
def built_of_data(lines: Path, tmp_path: Path) -> Path:
    """A warehouse of the toy corpus, whose data folder is elsewhere for now."""
    built(tmp_path).close()
    lines.rename(tmp_path / "elsewhere")
    return tmp_path / "w.duckdb"


def again(path: Path, **options: Any) -> ReplayResult:
    return replay(
        path, Silent(), **({"corpus_roots": (path.parent / "roots",), "limit": QuarantineLimit("100%")} | options)
    )


def test_what_passes_now_is_loaded(toy_built: Path, tmp_path: Path) -> None:
    facts, before = fetch(toy_built, FACTS), contents(toy_built)
    others = "from main.turns where dialogue_id like 'dbdc3:%' order by all"
    unchanged = fetch(toy_built, others)
    declare(tmp_path, refused=r"\?")
    (corpus,) = again(toy_built).corpora
    assert (corpus.corpus_id, corpus.quarantined, corpus.passed, dict(corpus.refused)) == ("toy", 5, 3, {"TOY-01": 2})
    assert corpus.newly == []
    assert corpus.loaded == (9, 12)
    assert fetch(toy_built, LEFT) == []
    assert fetch(toy_built, "select text from main.turns where dialogue_id = 'toy:toy/one.txt/1'") == [("!bad",)]
    assert fetch(toy_built, FACTS) == facts, "the facts are those of the publisher's files, not of the copies"
    assert fetch(toy_built, others) == unchanged
    changed = {name for name, value in contents(toy_built).items() if value != before[name]}
    assert changed == {
        *("main.dialogues", "main.records", "main.turns"),
        *("meta.findings", "meta.quarantine", "meta.source_files"),
    }
    loads = fetch(toy_built, "select source, outcome->>'toy', outcome->>'dbdc3' from meta.loads order by load_id")
    assert loads[-1] == ("the warehouse itself", "replayed", "unchanged")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roots", "w.duckdb"]


@pytest.mark.slow
def test_it_comes_to_the_same_as_a_build(built_of_data: Path, tmp_path: Path) -> None:
    declare(tmp_path, refused=r"\?")
    again(built_of_data)
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    built(tmp_path, "fresh.duckdb").close()
    assert contents(built_of_data) == contents(tmp_path / "fresh.duckdb")


@pytest.mark.slow
def test_a_later_build_finds_the_corpus_unchanged(built_of_data: Path, tmp_path: Path) -> None:
    roots = declare(tmp_path, refused=r"\?", version=2)
    again(built_of_data)
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    result = build(built_of_data, Silent(), data=tmp_path / "data", corpus_roots=roots)
    assert (result.plan.load, result.plan.is_current) == ((), True)
    assert build(built_of_data, Silent(), data=tmp_path / "data", corpus_roots=roots, rehash=True).plan.load == ()


@pytest.mark.slow
def test_nothing_changes_where_the_reader_did_not(toy_built: Path) -> None:
    stamp = identity(toy_built)
    result = again(toy_built)
    (corpus,) = result.corpora
    assert (corpus.passed, dict(corpus.refused), corpus.newly, corpus.tables) == (0, {"TOY-01": 5}, [], [])
    assert not result.is_published
    assert identity(toy_built) == stamp


@pytest.mark.slow
def test_what_was_loaded_and_is_refused_now_is_told(toy_built: Path, tmp_path: Path) -> None:
    declare(tmp_path, refused="[!w]")
    (corpus,) = again(toy_built).corpora
    assert (corpus.passed, dict(corpus.refused)) == (2, {"TOY-01": 3})
    assert ("toy/one.txt", "/2", "TOY-01", "it is 'world'") in corpus.newly
    assert len(corpus.newly) == 5
    assert fetch(toy_built, LEFT) == [("/1", "TOY-01"), ("/2", "TOY-01")]


@pytest.mark.slow
def test_a_rehearsal_publishes_nothing(toy_built: Path, tmp_path: Path) -> None:
    stamp = identity(toy_built)
    declare(tmp_path, refused=r"\?")
    result = again(toy_built, dry_run=True)
    assert (result.corpora[0].passed, result.is_published) == (3, False)
    assert identity(toy_built) == stamp


@pytest.mark.slow
def test_the_limit_is_that_of_a_build(toy_built: Path, tmp_path: Path) -> None:
    stamp = identity(toy_built)
    declare(tmp_path, refused=r"\?")
    with pytest.raises(TooMuchQuarantined, match="--max-quarantine 2"):
        again(toy_built, limit=QuarantineLimit("1%"))
    assert identity(toy_built) == stamp
    declare(tmp_path, refused="nothing")
    assert again(toy_built, limit=QuarantineLimit("1%")).is_published


def test_files_that_nobody_kept_are_not_made_up(toy_built: Path, tmp_path: Path) -> None:
    stamp = identity(toy_built)
    declare(tmp_path, taken=r"\.(txt|png)$")
    with pytest.raises(BuildFailed, match=r"packed\.zip!image\.png[\s\S]*build --data") as caught:
        again(toy_built)
    assert "its content is not in the warehouse" in str(caught.value)
    assert identity(toy_built) == stamp


@pytest.mark.slow
def test_files_that_are_no_data_stay_listed(toy_built: Path, tmp_path: Path) -> None:
    listed = "select source_file_id, kind, note from meta.source_files where kind not in ('read') order by all"
    findings = "select rule, source_file_id, detail from meta.findings where rule = 'TH-05' order by all"
    before = fetch(toy_built, listed), fetch(toy_built, findings)
    assert len(before[0]) >= 4
    assert before[1]
    declare(tmp_path, refused="nothing")
    assert again(toy_built).is_published
    assert (fetch(toy_built, listed), fetch(toy_built, findings)) == before


@pytest.mark.slow
def test_a_file_that_was_refused_whole(tmp_path: Path) -> None:
    """A real corpus: JSON is written back in another spelling, and the rows are the same to the byte."""
    shutil.copytree(sample_of(DBDC3), tmp_path / "data" / "dbdc3")
    folder = tmp_path / "data" / "dbdc3" / "YI_json_data"
    (folder / "broken.log.json").write_bytes(b'\xef\xbb\xbf{"dialogue-id": \n')
    with zipfile.ZipFile(tmp_path / "data" / "dbdc3" / "empty.zip", "w"):
        pass
    path = tmp_path / "r.duckdb"
    build(path, Silent(), data=tmp_path / "data", limit=QuarantineLimit("100%"))
    result = replay(path, Silent(), limit=QuarantineLimit("100%"))
    (corpus,) = result.corpora
    assert (corpus.quarantined, corpus.passed, dict(corpus.refused), corpus.newly) == (1, 0, {"TH-01": 1}, [])
    assert corpus.tables == []
    assert not result.is_published


@pytest.mark.slow
def test_only_limits_it_to_some_corpora(toy_built: Path, tmp_path: Path) -> None:
    declare(tmp_path, refused=r"\?")
    assert again(toy_built, only=("dbdc3",)).corpora == []
    assert [corpus.corpus_id for corpus in again(toy_built, only=("toy",)).corpora] == ["toy"]
    with pytest.raises(UsageError, match="no corpus 'tory'"):
        again(toy_built, only=("tory",))


def test_without_a_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseMissing):
        replay(tmp_path / "none.duckdb", Silent())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ignored_folders_stay_ignored(lines: Path, tmp_path: Path) -> None:
    (lines / "unknown").mkdir()
    built(tmp_path).close()
    found = "select source_file_id from meta.findings where corpus_id is null"
    declare(tmp_path, refused=r"\?")
    assert again(tmp_path / "w.duckdb").is_published
    assert fetch(tmp_path / "w.duckdb", found) == [("unknown",)]


@pytest.mark.slow
def test_an_older_warehouse_is_brought_up_to_date_first(toy_built: Path, tmp_path: Path) -> None:
    older = Path(shutil.copyfile(toy_built, tmp_path / "older.duckdb"))
    downgrade(older, "0002")
    declare(tmp_path, refused=r"\?")
    assert again(older).corpora[0].passed == 3
    assert revision(older) == migrations.head()


# The command, and what can cut it short.

HELD = """
import time
from pathlib import Path
import talkhouse.load.staging as staging, talkhouse.replay as replay
def held(*arguments, **options):
    Path("started").touch()
    time.sleep(60)
if "{instant}" == "loading":
    staging.load_corpus = held
if "{instant}" == "publishing":
    replay.publish = held
from talkhouse.cli import main; main()
"""
ARGUMENTS = ("replay", "--db", "w.duckdb", "--max-quarantine", "100%", "--corpora", "roots")


def stopped(cwd: Path, instant: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HELD.format(instant=instant), *ARGUMENTS]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    process = subprocess.Popen(command, cwd=cwd, env=env, stderr=subprocess.PIPE, text=True)
    wait_for(cwd / "started", process)
    (cwd / "started").unlink()
    return process


@pytest.mark.slow
@pytest.mark.parametrize("instant", ["loading", "publishing"])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_cut_short_it_leaves_the_old_one(toy_built: Path, tmp_path: Path, instant: str, sent: signal.Signals) -> None:
    stamp = identity(toy_built)
    declare(tmp_path, refused=r"\?")
    process = stopped(tmp_path, instant)
    process.send_signal(sent)
    _, stderr = process.communicate(timeout=300)
    assert identity(toy_built) == stamp
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; the published warehouse is unchanged" in stderr
        assert not list(tmp_path.glob(".w.duckdb*"))
    assert again(toy_built).is_published
    assert not list(tmp_path.glob(".w.duckdb*"))
    with talkhouse.open(toy_built) as con:
        assert con.execute("select count(*) from meta.quarantine").fetchall() == [(2,)]


def test_the_command_says_what_passed(toy_built: Path, tmp_path: Path) -> None:
    note = "writing toy back from the warehouse\n"

    def shown() -> str:
        done = run(*ARGUMENTS, cwd=tmp_path, env={"COLUMNS": "60"})
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith(note)
        return done.stdout

    assert "still refused: 5 (TOY-01: 5)" in (unchanged := shown())
    assert unchanged.endswith("Nothing changed; the warehouse is unchanged.\n")
    declare(tmp_path, refused="[!w]")
    changed = shown()
    for words in ("passed now: 2", "still refused: 3 (TOY-01: 3)", "newly refused: 5", "#/2: it is 'world'"):
        assert words in changed, changed
    assert changed.endswith("Published w.duckdb\n")
    assert max(map(len, changed.splitlines())) <= 120
    assert toy_built.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--corpus", "dbcd3"], 2, ["no corpus 'dbcd3'"]),
        pytest.param(["--max-quarantine", "many"], 2, ["--max-quarantine many"], marks=pytest.mark.slow),
        (["--corpus", "dbdc3"], 0, []),
    ],
)
@pytest.mark.usefixtures("toy_built")
def test_exit_codes(tmp_path: Path, arguments: list[str], code: int, words: list[str]) -> None:
    shown = run("replay", "--db", "w.duckdb", *arguments, cwd=tmp_path)
    assert shown.returncode == code
    assert all(word in shown.stderr for word in words), shown.stderr
    if code == 0:
        assert shown.stdout == "Nothing is in quarantine; the warehouse is unchanged.\n"
