"""The publisher's files, written back from the tables: archives, pieces, what is refused, and nothing half."""

import resource
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.ingest.stored_record import StoredRecord
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.restore import unload
from talkhouse.restore.unload import stored_records
from talkhouse.restore.write_back import OpenFiles, write_back
from talkhouse.schema.errors import CorpusFailed, UsageError, WarehouseDamaged
from tests.commands import COMMAND, on_a_terminal, run
from tests.conftest import wait_for
from tests.corpora.unusual import files_in
from tests.talkhouse.toy import LINES, built, toy

DBDC3 = corpora()["dbdc3"]


def test_archives_are_folders_of_their_members(toy_built: Path, tmp_path: Path) -> None:
    with talkhouse.open(toy_built) as con:
        done = write_back(con, toy(tmp_path), tmp_path / "out")
    found = files_in(tmp_path / "out")
    assert {name: raw.decode() for name, raw in found.items()} == {
        **LINES,
        **{f"packed/{name}": text for name, text in LINES.items()},
        "packed/deep/odd name.txt": "Ä\n",
        "more/one.txt": LINES["one.txt"],
    }
    assert sorted(done.files) == sorted(tmp_path / "out" / name for name in found)
    assert (done.published_files, done.bytes) == (len(found), sum(map(len, found.values())))
    assert (done.records, done.quarantined) == (14, 5)
    assert [(item.id, item.kind) for item in done.left_out] == [
        ("toy/LICENSE", "skipped"),
        ("toy/packed.zip!deep/README", "skipped"),
        ("toy/packed.zip!image.png", "unrecognised"),
    ]


@pytest.mark.usefixtures("lines")
@pytest.mark.slow
def test_archives_are_archives_again_and_build_to_the_same(tmp_path: Path) -> None:
    ids = "select source_file_id, records_loaded from meta.source_files where kind in ('read', 'archive') order by all"
    with built(tmp_path) as con:
        (tmp_path / "again").mkdir()
        write_back(con, toy(tmp_path), tmp_path / "again" / "toy", archives=True)
        write_back(con, toy(tmp_path), tmp_path / "twice", archives=True)
        known, records = con.execute(ids).fetchall(), con.execute("from main.records order by all").fetchall()
    assert files_in(tmp_path / "again" / "toy") == files_in(tmp_path / "twice"), "the same bytes each time"
    assert sorted(files_in(tmp_path / "twice")) == ["more.tar.gz", "one.txt", "packed.zip", "two.txt"]
    with built(tmp_path, "again.duckdb", data=tmp_path / "again") as con:
        assert con.execute(ids).fetchall() == known
        assert con.execute("from main.records order by all").fetchall() == records


@pytest.mark.slow
def test_two_files_of_one_name_are_never_mixed(lines: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(lines / "toy" / "packed.zip") as archive:
        archive.extract("one.txt", lines / "toy" / "packed")
    with built(tmp_path) as con:
        with pytest.raises(UsageError, match=r"two files have the same name[\s\S]*--archive") as caught:
            write_back(con, toy(tmp_path), tmp_path / "out")
        assert "toy/packed.zip!one.txt" in str(caught.value)
        assert "toy/packed/one.txt" in str(caught.value)
        write_back(con, toy(tmp_path), tmp_path / "out", archives=True)
    assert (tmp_path / "out" / "packed" / "one.txt").read_text() == LINES["one.txt"]
    with zipfile.ZipFile(tmp_path / "out" / "packed.zip") as archive:
        assert archive.read("one.txt").decode() == LINES["one.txt"]


def test_the_lists_of_a_file_come_one_after_the_other(con: duckdb.DuckDBPyConnection) -> None:
    for file, group in groupby(stored_records(con, "mpchat"), key=lambda record: record.file.source_file_id):
        positions = [record.pointer.split("/")[1:] for record in group if record.pointer]
        splits = [split for split, _ in groupby(positions, key=lambda location: location[0])]
        assert len(splits) == len(set(splits)), file
        for _, list_of in groupby(positions, key=lambda location: location[0]):
            indexes = [int(index) for _, index in list_of]
            assert indexes == sorted(indexes)


@pytest.mark.slow
def test_chunks_of_any_size_gather_the_same(con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    def gathered() -> list[object]:
        return [
            (
                record.record,
                record.raw,
                record.turns,
                record.annotations,
                record.persona_uses,
                record.candidates,
                record.participants,
            )
            for corpus_id in corpora()
            for record in stored_records(con, corpus_id)
        ]

    whole = gathered()
    monkeypatch.setattr(unload, "_RECORDS", 3)
    assert gathered() == whole
    monkeypatch.setattr(unload, "_RECORDS", 1_000)
    monkeypatch.setattr(unload, "_ROWS", 40)
    assert gathered() == whole


def test_a_dialogue_of_many_records_is_not_read_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unload, "_ROWS", 40)
    spans = ((0, 0), (0, 99), *[None] * (len(unload.KEY_COLUMNS) - 2))
    day = unload.RecordPosition("f", "k", "d", is_quarantined=False, spans=spans)
    other = day._replace(spans=((1, 1), (100, 109), *spans[2:]))
    assert [*unload.chunks(iter([day, day, day, other, other]))] == [[day, day, day], [other, other]]


def test_one_record_is_what_the_stream_has_of_it(con: duckdb.DuckDBPyConnection) -> None:
    for record in stored_records(con, "mpchat"):
        if record.record:
            alone = unload.stored_record(con, record.record.record_id)
            assert (alone.record, alone.turns, alone.candidates) == (record.record, record.turns, record.candidates)
    with pytest.raises(KeyError):
        unload.stored_record(con, "mpchat/none")


@pytest.mark.slow
def test_pieces_of_many_files_may_alternate(lines: Path, tmp_path: Path) -> None:
    for number in range(100):
        (lines / "toy" / f"{number:03}.txt").write_text(f"first {number}\nsecond {number}\n")

    def shuffled(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        yield from sorted(toy(tmp_path).write(records), key=lambda piece: piece[1].partition(b" ")[0])

    with built(tmp_path) as con:
        write_back(con, toy(tmp_path), tmp_path / "plain")
        write_back(con, replace(toy(tmp_path), write=shuffled), tmp_path / "out")
    plain, out = files_in(tmp_path / "plain"), files_in(tmp_path / "out")
    assert all(out[f"{number:03}.txt"] == plain[f"{number:03}.txt"] for number in range(100))


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda records: (("two.txt", b"") for _ in records), "leaves out a file that was read: toy/more.tar.gz!./one"),
        (lambda records: ((f"x{record.path}", b"") for record in records), "writes a file that was never read: x"),
    ],
)
def test_a_wrong_writer_is_reported(
    toy_built: Path,
    tmp_path: Path,
    write: Callable[[Iterable[StoredRecord]], Iterator[tuple[str, bytes]]],
    message: str,
) -> None:
    with talkhouse.open(toy_built) as con, pytest.raises(CorpusFailed, match=message):
        write_back(con, replace(toy(tmp_path), write=write), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_without_bytes_needs_no_piece(lines: Path, tmp_path: Path) -> None:
    (lines / "toy" / "empty.txt").write_bytes(b"")

    def sparing(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        return (piece for piece in toy(tmp_path).write(records) if piece[1])

    with built(tmp_path) as con:
        write_back(con, replace(toy(tmp_path), write=sparing), tmp_path / "out")
    assert (tmp_path / "out" / "empty.txt").read_bytes() == b""


def test_a_name_that_points_outside_is_refused(toy_built: Path, tmp_path: Path) -> None:
    with duckdb.connect(toy_built) as con:
        for column, value, file in (
            ("path", "'toy/../../evil.txt'", "toy/one.txt"),
            ("path", "'toy/evil' || chr(0) || '.txt'", "toy/one.txt"),
            ("member", "'../../evil.txt'", "toy/packed.zip!one.txt"),
            ("member", "'/evil.txt'", "toy/packed.zip!one.txt"),
        ):
            con.execute(f"update meta.source_files set {column} = {value} where source_file_id = '{file}'")
            with pytest.raises(WarehouseDamaged, match="points outside"):
                write_back(con, toy(tmp_path), tmp_path / "out", archives=column == "member")
            as_built = file.rpartition("!")[2]
            con.execute(f"update meta.source_files set {column} = '{as_built}' where source_file_id = '{file}'")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("evil*"))


def test_an_empty_folder_stays_the_folder_that_it_is(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    before = (tmp_path / "out").stat().st_ino
    assert all(path.is_file() for path in write_back(con, DBDC3, tmp_path / "out").files)
    assert (tmp_path / "out").stat().st_ino == before
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_open_files_are_closed(tmp_path: Path) -> None:
    with OpenFiles() as files:
        for number in range(200):
            files.append(tmp_path / "deep" / str(number % 100), b"x")
    assert {path.read_bytes() for path in (tmp_path / "deep").iterdir()} == {b"xx"}


INVENT = """
import sys
from dataclasses import replace
from pathlib import Path

from talkhouse import migrations
from tests.memory import peak
from talkhouse.ingest.registry import corpora
from talkhouse.schema import warehouse
from talkhouse.restore.write_back import write_back

path, number = Path("w.duckdb"), int(sys.argv[1])
migrations.upgrade(path)
with warehouse.create(path) as con:
    con.execute("insert into main.texts select 'toy:' || i, 'toy', repeat(i || ' ', 300) from range(2000) t(i)")
    con.execute(
        "insert into meta.source_files by name select 'toy/all.tsv' as source_file_id, 'toy' as corpus_id, "
        "'toy/all.tsv' as path, 'read' as kind, '' as sha256, 1 as size, '2026-01-01'::timestamp as modified_at, "
        f"{number} as records_in, {number} as records_loaded, 0 as records_quarantined"
    )
    con.execute(
        "insert into main.records by name select 'toy/' || i as record_id, 'toy' as corpus_id, i as record_index, "
        f"'toy/all.tsv' as source_file_id, '/' || i as source_pointer from range({number}) t(i)"
    )
    con.execute(
        "insert into main.candidates by name select 'toy/' || i // 51 as record_id, 0 as turn_index, "
        "'' as candidate_set, i % 51 as position, 0 as item_index, 'toy:' || i % 2000 as text_id "
        f"from range({number} * 51) t(i)"
    )
    con.execute("checkpoint")

def write(records):
    for one in records:
        yield "all.tsv", b"".join(one.texts[row.text_id].encode() + b"\\n" for row in one.candidates)

with warehouse.connect(path) as con:
    (written,) = write_back(con, replace(corpora()["dbdc3"], id="toy", write=write), Path("out")).files
print(peak(), written.stat().st_size / 1e6)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_a_file(tmp_path: Path) -> None:
    measured = []
    for number in (2_500, 7_500):
        folder = tmp_path / str(number)
        folder.mkdir()
        shown = subprocess.check_output([sys.executable, "-c", INVENT, str(number)], cwd=folder, text=True)
        measured.append([float(figure) for figure in shown.split()[-2:]])
        shutil.rmtree(folder)
    (small, size), (large, larger) = measured
    assert larger - size > 300
    assert large - small < (larger - size) / 4


# The command.


def test_the_command_says_what_it_did(sample: Path, tmp_path: Path) -> None:
    shown = run("restore", "dbdc3", "--output", "out", "--db", sample, cwd=tmp_path, env={"COLUMNS": "60"})
    assert shown.returncode == 0, shown.stderr
    count = len([path for path in (tmp_path / "out").rglob("*") if path.is_file()])
    assert shown.stdout.startswith(f"Restored {count} files of dbdc3 (")
    assert f"{count} records, 0 of them from the quarantine" in shown.stdout
    assert "dbdc3/DBDC3/LICENSE.txt" in shown.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.slow
def test_the_command_tells_of_the_quarantine(tmp_path: Path) -> None:
    shutil.copytree(sample_of(DBDC3), tmp_path / "data" / "dbdc3")
    broken = tmp_path / "data" / "dbdc3" / "YI_json_data" / "broken.log.json"
    broken.write_text('{"dialogue-id": \n')
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", limit=QuarantineLimit("100%"))
    shown = run("restore", "dbdc3", "--output", "out", "--archive", "--db", "w.duckdb", cwd=tmp_path)
    assert "records, 1 of them from the quarantine" in shown.stdout
    assert (tmp_path / "out" / "YI_json_data" / "broken.log.json").read_bytes() == broken.read_bytes()


def test_a_terminal_gets_progress(sample: Path, tmp_path: Path) -> None:
    assert "restoring dbdc3" in on_a_terminal(["restore", "dbdc3", "--output", "out", "--db", sample], tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dbcd3", "--output", "out"], ["no corpus 'dbcd3'", "dbdc3"]),
        (["dbdc3", "--output", "taken"], ["not empty", "another --output"]),
        (["dbdc3", "--output", "taken/file"], ["the output is a file"]),
        (["dbdc3", "--output", "no/such"], ["there is no such folder"]),
        (["dbdc3"], ["--output"]),
    ],
)
def test_wrong_use_is_told_and_leaves_nothing(
    sample: Path, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    shown = run("restore", *arguments, "--db", sample, cwd=tmp_path)
    assert shown.returncode == 2
    assert all(word in shown.stderr for word in words), shown.stderr
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["taken", "taken/file"]


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(sample: Path, tmp_path: Path) -> None:
    def nearly_full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [*COMMAND, "restore", "dbdc3", "--output", "out", "--db", str(sample)]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, preexec_fn=nearly_full)
    assert shown.returncode == 1
    assert "there is no room for the files; nothing was left behind" in shown.stderr
    assert list(tmp_path.iterdir()) == []


def stopped(arguments: list[object], cwd: Path) -> "subprocess.Popen[str]":
    """Start a command and hold it in the middle of the writing of a file."""
    script = (
        "import time\n"
        "from pathlib import Path\n"
        "import talkhouse.restore.write_back as open_files\n"
        "append = open_files.OpenFiles.append\n"
        "def slow(self, path, piece):\n"
        "    append(self, path, piece)\n"
        "    Path('started').touch()\n"
        "    time.sleep(60)\n"
        "open_files.OpenFiles.append = slow\n"
        "from talkhouse.cli import main; main()"
    )
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True)
    wait_for(cwd / "started", process)
    (cwd / "started").unlink()
    return process


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [False, True])
def test_ctrl_c_leaves_nothing(sample: Path, tmp_path: Path, is_there: bool) -> None:
    if is_there:
        (tmp_path / "out").mkdir()
    process = stopped(["restore", "dbdc3", "--output", "out", "--db", sample], tmp_path)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert [path.name for path in tmp_path.rglob("*")] == (["out"] if is_there else [])


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [False, True])
def test_what_a_killed_process_left_is_cleared(sample: Path, tmp_path: Path, is_there: bool) -> None:
    if is_there:
        (tmp_path / "out").mkdir()
    process = stopped(["restore", "dbdc3", "--output", "out", "--db", sample], tmp_path)
    with talkhouse.open(sample) as con:
        with pytest.raises(UsageError, match="another process is writing"):
            write_back(con, DBDC3, tmp_path / "out")
        process.kill()
        process.communicate()
        write_back(con, DBDC3, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
