"""Values that Talkhouse does not write into the files next to a warehouse: each ends in a message about that file."""

import os
import resource
import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from talkhouse.cli.commands import app
from talkhouse.notes.notes_file import NewNote, add, open_notes, path_for
from talkhouse.schema.errors import SchemaMismatch, UsageError
from tests.commands import run
from tests.lanes import one_in
from tests.limits import Limit, small_disk
from tests.samples import RELEASES
from tests.vectors import invented, turns_of

ADD, LIKE = f"notes --add {RELEASES}:CIC9001", f"search --like {RELEASES}:CIC9001#1"
SCORE, OVERLAP = "score delidata.probing_target --baseline", "overlap --unit turn --against mpchat/train"
COMMANDS = {
    "notes": ((f"{ADD} --label a", f"{ADD}#1 --label a"), ("notes --json", f"{ADD} --label b", "notes --remove 1")),
    "scores": ((f"{SCORE} oracle --save a", f"{SCORE} majority --save b"), ("scores --json", "scores --compare a b")),
    "w.search": (("search --rank a",), ("search --rank museum --json", LIKE)),
    "w.vectors": (("vectors v.parquet",), (f"{LIKE} --by meaning --json",)),
    "w.overlap": ((OVERLAP,), (OVERLAP,)),
}
"""What makes each file, and what reads it."""

REFUSED = {
    "notes": {"notes.written_at": "'290000-01-01'", "notes.note_id": "7", "last_note.note_id": "2147483647"},
    "scores": {"runs.splits": "[null]", "runs.saved_at": "'infinity'", "runs.run": "'none'", "metrics.low": "1"},
    "w.search": {"words.word_no": "null", "postings.times": "0", "run.mean_words": "'nan'", "groups.kind": "'other'"},
    "w.vectors": {"vectors.vector": "null", "vectors.x": "'inf'", "run.map": "'flat'", "groups.splits": "[null]"},
    "w.overlap": {"units.units": "0", "run.against": "null", "matches.kind": "'alike'", "run.threshold": "'nan'"},
}
VALUES = ["-1", "nan", "290000-01-01", "[null]", "2147483647", "infinity", "0", "inf", "0044-01-01 (BC)"]


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow if name != "notes" else []) for name in COMMANDS])
def beside(request: pytest.FixtureRequest, sample: Path, tmp_path: Path) -> Path:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    if request.param == "w.vectors":
        invented(turns_of(path)).write_parquet(tmp_path / "v.parquet")
    for words in (*COMMANDS[request.param][0], COMMANDS[request.param][1][0]):
        done = run(*words.split(), "--db", path, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    return tmp_path / f"{request.param}.duckdb"


def put(path: Path, whole: bytes, table: str, column: str, value: str) -> None:
    path.chmod(0o600)
    path.write_bytes(whole)
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as changed; use changed")
        replaced = f"* replace ({value}::{con.sql(f'select {column} from {table}').types[0]} as {column})"
        con.execute(f"create or replace table {table} as select {replaced} from {table}")


def test_a_value_that_is_never_written_is_refused_with_its_place(beside: Path) -> None:
    whole = beside.read_bytes()
    for place, value in REFUSED[beside.stem].items():
        put(beside, whole, *place.split("."), value)
        done = run(*COMMANDS[beside.stem][1][0].split(), "--db", beside.with_name("w.duckdb"))
        assert (done.returncode, done.stdout, f"{beside}: this is no" in done.stderr) == (2, "", True), done.stderr
        assert f"found:    {place}: a value that Talkhouse does not write" in done.stderr


@pytest.mark.long
def test_no_value_of_any_column_ends_in_a_traceback(beside: Path) -> None:
    whole = beside.read_bytes()
    with duckdb.connect(beside, read_only=True) as con:
        columns = con.sql("select schema || '.' || name, unnest(column_names) from (show all tables)").fetchall()
    # Neither the values nor their number have this as a factor: each value is tried in the slow lane, too.
    for number, (table, column) in one_in(7, [*enumerate(columns)]):
        values = ["null", f"'{VALUES[number % len(VALUES)]}'"]
        # What reads these takes long: of each column one of the two.
        for value in values[number % 2 :][:1] if beside.stem in ("scores", "w.overlap") else values:
            for words in COMMANDS[beside.stem][1]:
                try:
                    put(beside, whole, table, f'"{column}"', value)
                except (duckdb.ConversionException, duckdb.CatalogException):  # no value of its type, or a view
                    break
                arguments = [*words.split(), "--db", str(beside.with_name("w.duckdb"))]
                error = CliRunner().invoke(app, arguments, standalone_mode=False).exception
                # Exactly these: what is said of a warehouse is a kind of the first.
                assert type(error) in (type(None), UsageError, SchemaMismatch), (table, column, value, words, error)


@pytest.mark.parametrize("asked", ["label", "error(label)"])
def test_what_trips_a_reader_is_said_of_the_file(asked: str, sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    assert add(path, [NewNote("d", None, "", "a", None, "me", "command")]) == [1]
    with pytest.raises(UsageError, match="this is not a file of notes"), open_notes(path_for(path)) as con:
        con.execute(f"select {asked} from main.notes").fetchall()[1]


# Files next to a warehouse on a full disk: the error says so, and names the file that has no room.

WRITERS = {
    "notes.duckdb": "notes --take notes.csv",
    "scores.duckdb": "score dbdc3.breakdown_detection --split dev --release dbdc3 --baseline majority --save mine",
    "w.overlap.duckdb": "overlap",
    "w.search.duckdb": "search --rank lighthouse",
}


def assert_told(folder: Path, file: str, **how: Limit) -> bool:
    """Run the command that writes a file; return whether it could."""
    (folder / "notes.csv").write_text("dialogue_id,label\ndbdc3:CIC9001,odd\n")
    env = {"TALKHOUSE_DB": "w.duckdb"}
    done = run(*WRITERS[file].split(), cwd=folder, env=env, before=how.get("before", os.getpid))
    if done.returncode:
        assert f"{file}: there is no room" in done.stderr, done.stderr
        assert "next:     make room" in done.stderr, done.stderr
        assert "build it again" not in done.stderr, done.stderr
        assert {path.name for path in folder.iterdir()} <= {"w.duckdb", "notes.csv", "filler"}
    return done.returncode == 0


def test_no_file_may_grow(sample: Path, tmp_path: Path) -> None:
    shutil.copyfile(sample, tmp_path / "w.duckdb")
    for file in WRITERS:
        assert not assert_told(tmp_path, file, before=Limit(resource.RLIMIT_FSIZE, 40_000))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("file", WRITERS)
def test_a_full_disk(sample: Path, file: str) -> None:
    with small_disk("size=64M") as disk:
        shutil.copyfile(sample, disk / "w.duckdb")
        ended = []
        for free in one_in(2, (1, 4, 16, 40, 80, 130, 200, 300, 400, 600, 4_000)):
            left = os.statvfs(disk)
            (disk / "filler").write_bytes(bytes((left.f_bavail - free) * left.f_bsize))
            ended.append(assert_told(disk, file))
            (disk / "filler").unlink()
            (disk / file).unlink(missing_ok=True)
        assert (ended[0], ended[-1]) == (False, True)
