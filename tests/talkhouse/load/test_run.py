"""A build: nothing changes or everything does, unchanged corpora cost nothing, and readers are never blocked."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse import migrations
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import BuildResult, build, ingest
from talkhouse.load.workspace import Workspace
from talkhouse.queries.catalogue import Catalogue
from talkhouse.schema.errors import (
    BadName,
    CorpusFailed,
    NotAWarehouse,
    NothingLoaded,
    SourceError,
    TalkhouseError,
    UsageError,
    WarehouseLocked,
)
from tests.commands import run
from tests.lanes import first_quick
from tests.schema.test_warehouse import another_process

Rebuild = Callable[..., BuildResult]
CORPUS = corpora()["dbdc3"]
"""A corpus whose files are records, so that one can change, or go wrong, alone."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the files of one corpus, which are a sample's but are given as real ones."""
    shutil.copytree(sample_of(CORPUS), tmp_path / "data" / CORPUS.id)
    return tmp_path / "data"


def some_file(data: Path) -> Path:
    return sorted(path for path in data.rglob("*.json"))[0]


def identity(path: Path) -> tuple[int, int, int]:
    """Return the identity of a file, which its replacement does not have."""
    info = path.stat()
    return info.st_ino, info.st_mtime_ns, info.st_size


def fetch(path: Path, query: str) -> list[tuple[object, ...]]:
    with talkhouse.open(path) as con:
        return con.execute(query).fetchall()


def contents(path: Path) -> dict[str, object]:
    """Hash every table of a warehouse but the history of builds and what checks cost."""
    with talkhouse.open(path) as con:
        names = con.execute("select schema_name || '.' || table_name from duckdb_tables() order by all").fetchall()
        return {
            name: con.execute(f"select count(*), bit_xor(hash(rows::varchar)) from {name} as rows").fetchall()
            for (name,) in names
            if name not in ("meta.loads", "meta.checks")
        }


def test_the_published_file_is_read_only_and_stands_alone(rebuild: Rebuild, tmp_path: Path) -> None:
    rebuild()
    assert (tmp_path / "w.duckdb").stat().st_mode & 0o777 == 0o444
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.duckdb"]


def test_building_again_changes_nothing(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    first = rebuild(data)
    stamp = identity(tmp_path / "w.duckdb")
    again = rebuild(data)
    assert first.unchanged_since is None
    assert again.unchanged_since is not None
    assert again.plan.load == ()
    assert identity(tmp_path / "w.duckdb") == stamp


@pytest.mark.parametrize("corpus_id", first_quick(sorted(corpora())))
def test_what_is_declared_is_taken_for_what_the_warehouse_has(tmp_path: Path, corpus_id: str) -> None:
    # The terms of its licence count, unlike a sample's.
    shutil.copytree(sample_of(corpora()[corpus_id]), tmp_path / "data" / corpus_id)
    path = tmp_path / "w.duckdb"
    first, again = (build(path, Silent(), data=tmp_path / "data").unchanged_since for _ in range(2))
    assert (first is None, again is None) == (True, False)


def test_a_changed_file_is_read_again_and_nothing_is_doubled(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    rebuild(data)
    before = contents(tmp_path / "w.duckdb")
    changed = some_file(data)
    changed.write_text(changed.read_text() + "\n")
    assert [item.corpus.id for item in rebuild(data).plan.load] == [CORPUS.id]
    after = contents(tmp_path / "w.duckdb")
    assert {name for name in before if before[name] != after[name]} == {"meta.source_files"}
    assert fetch(tmp_path / "w.duckdb", "select load_id from meta.loads order by all") == [(1,), (2,)]


@pytest.mark.slow
def test_touched_files_are_read_again_unless_their_bytes_are_compared(rebuild: Rebuild, data: Path) -> None:
    rebuild(data)
    os.utime(some_file(data), (1, 1))
    by_bytes = rebuild(data, rehash=True)
    assert by_bytes.plan.load == ()
    assert by_bytes.plan.keep == (CORPUS.id,)
    times = "select count(*) from meta.source_files where modified_at = timestamp '1970-01-01 00:00:01'"
    assert fetch(by_bytes.path, times) == [(1,)]
    assert rebuild(data).unchanged_since is not None, "the new time was noted"
    os.utime(some_file(data), (2, 2))
    assert [item.corpus.id for item in rebuild(data).plan.load] == [CORPUS.id]


@pytest.mark.slow
def test_same_size_and_time_but_other_bytes_are_found_by_rehash(rebuild: Rebuild, data: Path) -> None:
    changed = some_file(data)
    rebuild(data)
    stamp = changed.stat()
    text = changed.read_bytes()
    with changed.open("r+b") as stream:
        stream.write(text.replace(b'"O"', b'"X"', 1))
    os.utime(changed, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert rebuild(data).unchanged_since is not None
    assert [item.corpus.id for item in rebuild(data, rehash=True).plan.load] == [CORPUS.id]


@pytest.mark.slow
def test_a_corpus_that_is_kept_is_the_same_to_the_row(
    rebuild: Rebuild, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild(data)
    before = contents(tmp_path / "w.duckdb")
    monkeypatch.setattr(Catalogue, "hash", property(lambda _: "views have changed"))
    result = rebuild(data)
    assert (result.plan.load, result.plan.keep) == ((), (CORPUS.id,))
    assert result.unchanged_since is None
    assert contents(tmp_path / "w.duckdb") == before


TOY = """
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.outcomes import Loaded, SourceLocation
from talkhouse.ingest.rows import Dialogue, Part, Record, Speaker, Turn

def read(files):
    for file in files:
        text, dialogue = file.read().decode(), f"toy:{file.name}"
        where = (None, None, None, None, "all", None, 0, file.id, "")
        record = Record(f"toy/{file.name}", "toy", dialogue, *where)
        rows = [record, Dialogue(dialogue, "toy"), Turn(dialogue, 0, None, "user", "message", text)]
        # here
        yield Loaded(SourceLocation(file, size=file.size), rows)

def write(records):
    for published in records:
        yield published.file.path.removeprefix("toy/"), published.turns[0].text.encode()

CORPUS = Corpus(id="toy", version=1, title="Toy", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="text files", splits={"all": None}, read=read, write=write)
"""


@pytest.fixture
def two(data: Path, tmp_path: Path) -> dict[str, object]:
    """A data folder of two corpora, one of them declared in a folder of its own; options for ``build``."""
    (tmp_path / "roots" / "toy").mkdir(parents=True)
    (tmp_path / "roots" / "toy" / "__init__.py").write_text(TOY)
    (data / "toy").mkdir()
    (data / "toy" / "a.txt").write_text("hello")
    return {"data": data, "corpus_roots": (tmp_path / "roots",)}


def corpora_in(path: Path) -> list[str]:
    return [str(name) for (name,) in fetch(path, "select corpus_id from main.corpora order by all")]


def test_one_corpus_changes_and_the_other_is_kept(rebuild: Rebuild, two: dict[str, object], tmp_path: Path) -> None:
    rebuild(**two)
    before = contents(tmp_path / "w.duckdb")
    (tmp_path / "data" / "toy" / "b.txt").write_text("world")
    result = rebuild(**two)
    assert [item.corpus.id for item in result.plan.load] == ["toy"]
    assert result.plan.keep == (CORPUS.id,)
    after = contents(tmp_path / "w.duckdb")
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"main.dialogues", "main.records", "main.turns", "meta.source_files"}


def test_a_corpus_whose_files_are_gone_is_removed_only_where_the_user_names_it(
    rebuild: Rebuild, two: dict[str, object], tmp_path: Path
) -> None:
    rebuild(**two)
    shutil.rmtree(tmp_path / "data" / "toy")
    before = contents(tmp_path / "w.duckdb")
    with pytest.raises(UsageError, match="would remove toy, whose files are not") as caught:
        rebuild(**two)
    assert f"--corpus {CORPUS.id}; to remove it: --remove toy" in str(caught.value)
    assert contents(tmp_path / "w.duckdb") == before
    with pytest.raises(UsageError, match=f"--remove {CORPUS.id}: its files are in the data folder"):
        rebuild(**two, remove=("toy", CORPUS.id))
    assert rebuild(**two, remove=("toy",)).plan.remove == ("toy",)
    assert corpora_in(tmp_path / "w.duckdb") == [CORPUS.id]
    assert fetch(tmp_path / "w.duckdb", "select count(*) from main.turns where dialogue_id[:4] = 'toy:'") == [(0,)]


def test_a_corpus_that_can_t_be_loaded_leaves_the_others_alone(
    rebuild: Rebuild, two: dict[str, object], tmp_path: Path
) -> None:
    path, reader = tmp_path / "w.duckdb", tmp_path / "roots" / "toy" / "__init__.py"
    found = "a record of a split that is not declared"
    rebuild(**two)
    before = contents(path)
    reader.write_text(TOY.replace("version=1", "version=2").replace("# here", 'record.split = "odd"'))
    with pytest.raises(CorpusFailed, match=found) as caught:
        rebuild(**two)
    assert caught.value.built.unchanged_since
    assert contents(path) == before
    some_file(tmp_path / "data" / CORPUS.id).unlink()
    with pytest.raises(CorpusFailed, match=found) as caught:
        rebuild(**two)
    assert caught.value.built.plan.keep == ("toy",)
    assert fetch(path, "select text from main.turns where dialogue_id[:4] = 'toy:'") == [("hello",)]
    assert contents(path)["main.records"] != before["main.records"]
    path.unlink()
    with pytest.raises(CorpusFailed, match="the reader of 'toy' "):
        rebuild(**two)
    assert corpora_in(path) == [CORPUS.id]
    with pytest.raises(CorpusFailed, match="nothing of it was published"):
        rebuild(**two, only=("toy",))


@pytest.mark.slow
def test_a_corpus_is_not_loaded_whatever_is_wrong_with_it(
    rebuild: Rebuild, two: dict[str, object], tmp_path: Path
) -> None:
    rebuild(**two)
    before = contents(tmp_path / "w.duckdb")
    for code, found in (
        ("1 / 0", "ZeroDivisionError"),
        ('record.standard_split = "odd"', "a record of another standard split"),
        ('rows += [record.annotation(0, "toy.odd", "+")]', "with a scheme that"),
        ("rows += [Part(dialogue, 0, 0, 'text', 'odd')]", "a Part with a kind"),
        ("rows += [Speaker('toy:x', 'toy', '', '', 'odd', 0)]", "a Speaker with a"),
    ):
        reader = TOY.replace("version=1", "version=2").replace("# here", code)
        (tmp_path / "roots" / "toy" / "__init__.py").write_text(reader)
        with pytest.raises(CorpusFailed, match=found):
            rebuild(**two)
        assert contents(tmp_path / "w.duckdb") == before, code


@pytest.mark.slow
def test_a_corpus_that_an_older_reader_has_read_is_named(
    rebuild: Rebuild, two: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reader = tmp_path / "w.duckdb", tmp_path / "roots" / "toy" / "__init__.py"
    rebuild(**two)
    reader.write_text(TOY.replace("version=1", "version=10"))  # of another size: Python keeps what it compiled
    some_file(tmp_path / "data" / CORPUS.id).unlink()
    rebuild(**two, only=(CORPUS.id,))
    found = "select corpus_id, detail from meta.findings where rule = 'TH-10'"
    assert fetch(path, found) == [("toy", "read by version 1 of its reader; installed is version 10")]
    monkeypatch.setenv("TALKHOUSE_CORPORA", str(reader.parent.parent))
    shown = run("status", "--db", path).stdout
    assert shown.count("of its reader") == 1
    assert "read by version 1 of its reader; installed is version 10: build it again from its files" in shown
    rebuild(**two)
    assert fetch(path, found) == []
    assert "of its reader" not in run("status", "--db", path).stdout


def test_only_limits_a_build_to_some_corpora(rebuild: Rebuild, two: dict[str, object], tmp_path: Path) -> None:
    rebuild(**two)
    shutil.rmtree(tmp_path / "data" / "toy")
    result = rebuild(**two, only=(CORPUS.id,))
    assert result.plan.remove == ()
    assert result.unchanged_since is not None
    assert corpora_in(tmp_path / "w.duckdb") == [CORPUS.id, "toy"]


def test_ingest_replaces_one_corpus(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    rebuild(data)
    whole = fetch(tmp_path / "w.duckdb", "select count(*) from main.records")
    ingest(tmp_path / "w.duckdb", Silent(), CORPUS.id, [some_file(data)])
    assert fetch(tmp_path / "w.duckdb", "select count(*) from main.records") == [(1,)]
    ingest(tmp_path / "w.duckdb", Silent(), CORPUS.id, [data / CORPUS.id])
    assert fetch(tmp_path / "w.duckdb", "select count(*) from main.records") == whole


@pytest.mark.slow
def test_unknown_folders_are_ignored_with_a_finding(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    (data / "elsewhere").mkdir()
    assert "elsewhere" in rebuild(data).notes[0]
    found = "select rule, source_file_id from meta.findings where corpus_id is null"
    assert fetch(tmp_path / "w.duckdb", found) == [("TH-05", "elsewhere")]
    assert rebuild(data).unchanged_since is not None
    (data / "elsewhere").rmdir()
    rebuild(data)
    assert fetch(tmp_path / "w.duckdb", found) == []


@pytest.mark.slow
def test_a_build_of_some_corpora_leaves_what_was_found_of_other_folders(
    rebuild: Rebuild, data: Path, tmp_path: Path
) -> None:
    (data / "elsewhere").mkdir()
    rebuild(data)
    assert rebuild(data, only=(CORPUS.id,)).unchanged_since is not None
    os.utime(some_file(data), (1, 1))
    assert rebuild(data, only=(CORPUS.id,)).unchanged_since is None
    found = "select source_file_id from meta.findings where corpus_id is null"
    assert fetch(tmp_path / "w.duckdb", found) == [("elsewhere",)]
    assert rebuild(data).unchanged_since is not None


@pytest.mark.slow
def test_a_corpus_without_a_sample_is_named_and_keeps_no_other_from_being_built(
    rebuild: Rebuild, two: dict[str, object], tmp_path: Path
) -> None:
    roots = two["corpus_roots"]
    assert rebuild(corpus_roots=roots).notes == ["there is no sample of toy: build it from files, with --data DIR"]
    assert corpora_in(tmp_path / "w.duckdb") == list(corpora())
    for only in (("toy",), ("toy", CORPUS.id)):
        with pytest.raises(SourceError, match=r"there is no sample of toy\n[\s\S]*--data DIR"):
            rebuild(only=only, corpus_roots=roots)


@pytest.mark.slow
def test_samples_never_replace_real_data(rebuild: Rebuild, data: Path) -> None:
    rebuild(data)
    with pytest.raises(UsageError, match=r"has real data[\s\S]*--data DIR"):
        rebuild()


# Bad input: one clear message, and the published file is untouched.

EMPTY_ZIP = b"PK\5\6" + bytes(18)


@pytest.mark.parametrize(
    ("files", "error", "message"),
    first_quick(
        [
            ({}, SourceError, "there is no such data folder"),
            ({f"{CORPUS.id}/empty.zip": EMPTY_ZIP}, NothingLoaded, r"empty\.zip"),
            (
                {"unknown/a.json": b"{}", ".talkhouse-fetch/": b""},
                SourceError,
                "no folder of a known.*\n.*\n.* unknown\n",
            ),
            ({f"{CORPUS.id}/": b""}, SourceError, "the folder is empty"),
            ({f"{CORPUS.id}/cut_off.zip": EMPTY_ZIP[:-5]}, SourceError, "the archive can't be read"),
            ({f"{CORPUS.id}/of_something_else.bin": b"other"}, NothingLoaded, "nothing of the corpus"),
        ],
        4,
    ),
)
def test_bad_input_leaves_the_published_file_as_it_was(
    rebuild: Rebuild, data: Path, tmp_path: Path, files: dict[str, bytes], error: type[TalkhouseError], message: str
) -> None:
    rebuild(data)
    published = (tmp_path / "w.duckdb").read_bytes()
    shutil.rmtree(data)
    for name, content in files.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).mkdir() if name.endswith("/") else (data / name).write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        rebuild(data)
    assert caught.value.exit_code in (1, 2)
    assert "  next: " in str(caught.value)
    assert (tmp_path / "w.duckdb").read_bytes() == published
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


@pytest.mark.parametrize("name", ["main.duckdb", "meta.db", f"{CORPUS.id}.duckdb", f"{CORPUS.id}.2026-01.duckdb"])
def test_a_warehouse_is_not_named_after_a_schema(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadName, match="ambiguous"):
        build(tmp_path / name, Silent())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_warehouse_and_one_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"this is a folder[\s\S]*talkhouse\.duckdb"):
        build(tmp_path, Silent())
    with pytest.raises(NotAWarehouse, match="this is a folder"):
        talkhouse.open(tmp_path)
    with pytest.raises(UsageError, match=r"no such folder[\s\S]*mkdir -p"):
        build(tmp_path / "nowhere" / "w.duckdb", Silent())
    assert list(tmp_path.iterdir()) == []
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


@pytest.mark.slow
def test_what_an_archive_hides_outside_of_itself_is_a_finding(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(data / CORPUS.id / "evil.zip", "w") as archive:
        archive.writestr("../../outside.log.json", b"{}")
    rebuild(data)
    found = "select source_file_id, detail from meta.findings where rule = 'TH-05'"
    ((name, detail),) = fetch(tmp_path / "w.duckdb", found)
    assert str(name).endswith("evil.zip!../../outside.log.json")
    assert "outside of the archive" in str(detail)


def test_somebody_elses_files_are_left_alone(tmp_path: Path) -> None:
    notes, other = tmp_path / "notes.duckdb", tmp_path / "other.duckdb"
    notes.write_text("notes")
    with duckdb.connect(other) as con:
        con.execute("create table mine (x integer)")
    for path in (notes, other):
        with pytest.raises(NotAWarehouse):
            build(path, Silent())
    assert notes.read_text() == "notes"
    with duckdb.connect(other) as con:
        assert con.execute("from mine").fetchall() == []


# Readers, writers and other builds.


def test_readers_keep_what_they_opened(rebuild: Rebuild, two: dict[str, object], tmp_path: Path) -> None:
    rebuild(**two)
    reader = talkhouse.open(tmp_path / "w.duckdb")
    shutil.rmtree(tmp_path / "data" / "toy")
    with another_process(f"import talkhouse; con = talkhouse.open({str(tmp_path / 'w.duckdb')!r})"):
        rebuild(**two, remove=("toy",))
    assert reader.execute("select count(*) from main.corpora").fetchall() == [(2,)]
    reader.close()
    assert corpora_in(tmp_path / "w.duckdb") == [CORPUS.id]


def test_a_build_refuses_while_a_writer_holds_the_file(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    rebuild(data)
    path = tmp_path / "w.duckdb"
    path.chmod(0o644)
    os.utime(some_file(data), (1, 1))
    with (
        another_process(f"import duckdb; con = duckdb.connect({str(path)!r})"),
        pytest.raises(WarehouseLocked, match=r"w\.duckdb: another process holds the file open for writing"),
    ):
        rebuild(data)


@pytest.mark.slow
def test_a_writer_that_comes_while_it_is_built_is_found_when_it_is_published(
    rebuild: Rebuild, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from talkhouse.load import run as module

    rebuild(data)
    path = tmp_path / "w.duckdb"
    path.chmod(0o644)
    before = path.read_bytes()
    os.utime(some_file(data), (1, 1))
    publish = module.publish

    def with_a_writer(workspace: Workspace, template: str | None) -> None:
        with another_process(f"import duckdb; con = duckdb.connect({str(path)!r})"):
            publish(workspace, template)

    monkeypatch.setattr(module, "publish", with_a_writer)
    with pytest.raises(WarehouseLocked):
        rebuild(data)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_stale_wal_is_moved_aside_with_a_finding(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    rebuild(data)
    wal = tmp_path / "w.duckdb.wal"
    wal.write_bytes(b"of another file, and no log of this one")
    assert rebuild(data).unchanged_since is None
    assert not wal.exists()
    (aside,) = tmp_path.glob("w.duckdb.wal.stale-*")
    assert aside.read_bytes() == b"of another file, and no log of this one"
    assert fetch(tmp_path / "w.duckdb", "select detail from meta.findings where rule = 'TH-06'") == [
        (f"a stale write-ahead log, moved aside to {aside.name}",)
    ]


BUILDER = """
import sys, time
from pathlib import Path
from talkhouse.load.workspace import acquire_workspace
workspace = acquire_workspace(Path({path!r}), wait=True, on_wait=print)
workspace.__enter__()
"""


@pytest.mark.slow
def test_two_builds_at_once(rebuild: Rebuild, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with (
        another_process(BUILDER.format(path=str(path))),
        pytest.raises(WarehouseLocked, match=r"another build of this warehouse is running\n.*process \d+ on .*since"),
    ):
        rebuild(wait=False)
    rebuild()
    holders: list[str] = []

    class Waiting(Silent):
        def note(self, message: str) -> None:
            holders.append(message)
            process.communicate("\n")

    script = BUILDER.format(path=str(path)) + "print('ready', flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    build(path, Waiting())
    assert str(process.pid) in holders[0]


@pytest.mark.slow
def test_what_a_killed_build_left_is_cleared(rebuild: Rebuild, tmp_path: Path) -> None:
    script = BUILDER.format(path=str(tmp_path / "w.duckdb"))
    script += "Path('.w.duckdb.build/_stage.duckdb').write_text('half'); import os; os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path).returncode == -9
    assert (tmp_path / ".w.duckdb.build" / "_stage.duckdb").exists()
    rebuild()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.duckdb"]


def test_counts_reconcile_and_the_build_is_written_down(rebuild: Rebuild, data: Path, tmp_path: Path) -> None:
    rebuild(data)
    path = tmp_path / "w.duckdb"
    off = (
        "select * from meta.source_files where records_in <> records_loaded + records_quarantined or records_loaded <> "
        "(select count(*) from main.records where records.source_file_id = source_files.source_file_id)"
    )
    assert fetch(path, off) == []
    ((revision, readers, outcome),) = fetch(path, "select schema_revision, reader_versions, outcome from meta.loads")
    assert revision == migrations.head()
    assert json.loads(str(readers)) == {CORPUS.id: CORPUS.version}
    assert json.loads(str(outcome)) == {CORPUS.id: "loaded"}
