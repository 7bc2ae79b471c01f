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
from talkhouse.build.progress import Silent
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.run import build
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.replay.run import Result, replay
from talkhouse.schema.errors import BuildFailed, TooMuchQuarantined, UsageError, WarehouseMissing
from tests.commands import run
from tests.conftest import wait_for
from tests.migrations.test_migrations import downgrade, revision
from tests.talkhouse.build.test_run import contents, fetch, identity
from tests.talkhouse.restore.test_write_back import declare, lines, made

__all__ = ["lines"]

DBDC3 = corpora()["dbdc3"]
FACTS = "select source_file_id, sha256, size, modified_at, mtime_ns, inode from meta.source_files order by all"
LEFT = "select pointer, rule from meta.quarantine where source_file_id = 'toy/one.txt' order by all"


@pytest.fixture
def built(lines: Path, tmp_path: Path) -> Path:
    """A warehouse of the toy corpus and of another one, whose data folder is gone."""
    shutil.copytree(sample_of(DBDC3), lines / "dbdc3")
    made(tmp_path).close()
    lines.rename(tmp_path / "elsewhere")
    return tmp_path / "w.duckdb"


def again(path: Path, **options: Any) -> Result:
    return replay(
        path, Silent(), **({"corpus_roots": (path.parent / "roots",), "limit": QuarantineLimit("100%")} | options)
    )


def test_what_passes_now_is_loaded(built: Path, tmp_path: Path) -> None:
    facts, before = fetch(built, FACTS), contents(built)
    others = "from main.turns where dialogue_id like 'dbdc3:%' order by all"
    kept = fetch(built, others)
    declare(tmp_path, refused=r"\?")
    (one,) = again(built).corpora
    assert (one.corpus_id, one.quarantined, one.passed, dict(one.refused)) == ("toy", 5, 3, {"TOY-01": 2})
    assert one.newly == []
    assert one.loaded == (9, 12)
    assert fetch(built, LEFT) == []
    assert fetch(built, "select text from main.turns where dialogue_id = 'toy:toy/one.txt/1'") == [("!bad",)]
    assert fetch(built, FACTS) == facts, "the facts are those of the publisher's files, not of the copies"
    assert fetch(built, others) == kept
    changed = {name for name, value in contents(built).items() if value != before[name]}
    assert changed == {
        "main.dialogues",
        "main.records",
        "main.turns",
        "meta.findings",
        "meta.quarantine",
        "meta.source_files",
    }
    loads = fetch(built, "select source, outcome->>'toy', outcome->>'dbdc3' from meta.loads order by load_id")
    assert loads[-1] == ("the warehouse itself", "replayed", "unchanged")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "roots", "w.duckdb"]


def test_it_comes_to_the_same_as_a_build(built: Path, tmp_path: Path) -> None:
    declare(tmp_path, refused=r"\?")
    again(built)
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    made(tmp_path, "fresh.duckdb").close()
    assert contents(built) == contents(tmp_path / "fresh.duckdb")


def test_a_later_build_finds_the_corpus_unchanged(built: Path, tmp_path: Path) -> None:
    roots = declare(tmp_path, refused=r"\?", version=2)
    again(built)
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    result = build(built, Silent(), data=tmp_path / "data", corpus_roots=roots)
    assert (result.plan.load, result.plan.is_current) == ((), True)
    assert build(built, Silent(), data=tmp_path / "data", corpus_roots=roots, rehash=True).plan.load == ()


def test_nothing_changes_where_the_reader_did_not(built: Path) -> None:
    stamp = identity(built)
    result = again(built)
    (one,) = result.corpora
    assert (one.passed, dict(one.refused), one.newly, one.tables) == (0, {"TOY-01": 5}, [], [])
    assert not result.is_published
    assert identity(built) == stamp


def test_what_was_loaded_and_is_refused_now_is_told(built: Path, tmp_path: Path) -> None:
    declare(tmp_path, refused="[!w]")
    (one,) = again(built).corpora
    assert (one.passed, dict(one.refused)) == (2, {"TOY-01": 3})
    assert ("toy/one.txt", "/2", "TOY-01", "it is 'world'") in one.newly
    assert len(one.newly) == 5
    assert fetch(built, LEFT) == [("/1", "TOY-01"), ("/2", "TOY-01")]


def test_a_rehearsal_publishes_nothing(built: Path, tmp_path: Path) -> None:
    stamp = identity(built)
    declare(tmp_path, refused=r"\?")
    result = again(built, dry_run=True)
    assert (result.corpora[0].passed, result.is_published) == (3, False)
    assert identity(built) == stamp


def test_the_limit_is_that_of_a_build(built: Path, tmp_path: Path) -> None:
    stamp = identity(built)
    declare(tmp_path, refused=r"\?")
    with pytest.raises(TooMuchQuarantined, match="--max-quarantine 2"):
        again(built, limit=QuarantineLimit("1%"))
    assert identity(built) == stamp
    declare(tmp_path, refused="nothing")
    assert again(built, limit=QuarantineLimit("1%")).is_published


def test_files_that_nobody_kept_are_not_made_up(built: Path, tmp_path: Path) -> None:
    stamp = identity(built)
    declare(tmp_path, taken=r"\.(txt|png)$")
    with pytest.raises(BuildFailed, match=r"packed\.zip!image\.png[\s\S]*build --data") as caught:
        again(built)
    assert "its content is not in the warehouse" in str(caught.value)
    assert identity(built) == stamp


def test_files_that_are_no_data_stay_listed(built: Path, tmp_path: Path) -> None:
    listed = "select source_file_id, kind, note from meta.source_files where kind not in ('read') order by all"
    findings = "select rule, source_file_id, detail from meta.findings where rule = 'TH-05' order by all"
    before = fetch(built, listed), fetch(built, findings)
    assert len(before[0]) >= 4
    assert before[1]
    declare(tmp_path, refused="nothing")
    assert again(built).is_published
    assert (fetch(built, listed), fetch(built, findings)) == before


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
    (one,) = result.corpora
    assert (one.quarantined, one.passed, dict(one.refused), one.newly) == (1, 0, {"TH-01": 1}, [])
    assert one.tables == []
    assert not result.is_published


def test_only_limits_it_to_some_corpora(built: Path, tmp_path: Path) -> None:
    declare(tmp_path, refused=r"\?")
    assert again(built, only=("dbdc3",)).corpora == []
    assert [one.corpus_id for one in again(built, only=("toy",)).corpora] == ["toy"]
    with pytest.raises(UsageError, match="no corpus 'tory'"):
        again(built, only=("tory",))


def test_without_a_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseMissing):
        replay(tmp_path / "none.duckdb", Silent())
    assert list(tmp_path.iterdir()) == []


def test_ignored_folders_stay_ignored(lines: Path, tmp_path: Path) -> None:
    (lines / "unknown").mkdir()
    made(tmp_path).close()
    found = "select source_file_id from meta.findings where corpus_id is null"
    declare(tmp_path, refused=r"\?")
    assert again(tmp_path / "w.duckdb").is_published
    assert fetch(tmp_path / "w.duckdb", found) == [("unknown",)]


def test_an_older_warehouse_is_brought_up_to_date_first(built: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.duckdb"
    shutil.copyfile(built, older)
    downgrade(older, "0002")
    declare(tmp_path, refused=r"\?")
    assert again(older).corpora[0].passed == 3
    assert revision(older) == migrations.head()


# The command, and what can cut it short.

SLOW = """
import sys, time
from pathlib import Path
import talkhouse.ingest.loading.load as load, talkhouse.replay.run as replay
run = replay.replay
def known(path, progress, **options):
    return run(path, progress, corpus_roots=(Path("roots"),), **options)
replay.replay = known
if "{instant}" == "loading":
    def slow(self, *arguments, **options):
        Path("started").touch(); time.sleep(60)
    load.Load.run = slow
if "{instant}" == "publishing":
    def slow(workspace):
        Path("started").touch(); time.sleep(60)
    replay.publish = slow
from talkhouse.cli import main; main()
"""


def command(instant: str = "") -> list[str]:
    return [
        sys.executable,
        "-c",
        SLOW.format(instant=instant),
        "replay",
        "--db",
        "w.duckdb",
        "--max-quarantine",
        "100%",
    ]


def stopped(cwd: Path, instant: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(command(instant), cwd=cwd, stderr=subprocess.PIPE, text=True)
    wait_for(cwd / "started", process)
    (cwd / "started").unlink()
    return process


@pytest.mark.parametrize("instant", ["loading", "publishing"])
@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_cut_short_it_leaves_the_old_one(built: Path, tmp_path: Path, instant: str, sent: signal.Signals) -> None:
    stamp = identity(built)
    declare(tmp_path, refused=r"\?")
    process = stopped(tmp_path, instant)
    process.send_signal(sent)
    _, stderr = process.communicate(timeout=300)
    assert identity(built) == stamp
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; the published warehouse is unchanged" in stderr
        assert not list(tmp_path.glob(".w.duckdb*"))
    assert again(built).is_published
    assert not list(tmp_path.glob(".w.duckdb*"))
    with talkhouse.open(built) as con:
        assert con.execute("select count(*) from meta.quarantine").fetchall() == [(2,)]


def test_the_command_says_what_passed(built: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "60"}
    note = "writing toy back from the warehouse\n"

    def shown() -> str:
        done = subprocess.run(command(), cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=300)
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
    assert built.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--corpus", "dbcd3"], 2, ["no corpus 'dbcd3'"]),
        (["--max-quarantine", "many"], 2, ["--max-quarantine many"]),
        ([], 0, []),
    ],
)
def test_exit_codes(sample: Path, tmp_path: Path, arguments: list[str], code: int, words: list[str]) -> None:
    shutil.copyfile(sample, tmp_path / "w.duckdb")
    shown = run("replay", "--db", "w.duckdb", *arguments, cwd=tmp_path)
    assert shown.returncode == code
    assert "Traceback" not in shown.stderr
    assert all(word in shown.stderr for word in words), shown.stderr
    if code == 0:
        assert shown.stdout == "Nothing is in quarantine; the warehouse is unchanged.\n"
