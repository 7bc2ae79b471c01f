"""Hashes by source file: what is remembered of them, and releases and lakes of which only what is new is written."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.lake.write_lake import LakeOutcome, LakeResult, write_lake
from talkhouse.lake_format import lake_manifest
from talkhouse.load.run import build
from talkhouse.releases.checkout import checkout
from talkhouse.releases.create import Created, ReleaseRequest, create
from talkhouse.releases.objects import differs, verify
from talkhouse.releases.store import read
from talkhouse.schema.errors import ReleaseDamaged
from talkhouse.warehouse import file_hashes, rows_hash
from talkhouse.warehouse.content_ids import ContentIds, contents_of, keep_ids, known_ids
from talkhouse.warehouse.opened import opened
from tests.commands import run
from tests.talkhouse.load.test_changed_files import talk, write
from tests.talkhouse.load.test_jobs import ALL, CHAT

DAYS = {f"day-{number}": [talk(str(number), f"Hi {number}", "Oh", "Er")] for number in range(12)}


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in {"LARGE": 1, "_A_FILE": 1, "SPLIT": 20, "RUN": 9}.items():
        monkeypatch.setattr(file_hashes, name, rows)


class Nights:
    """A chat of a file a day, built, released and written to a lake each night."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.db, self.store, self.lake = folder, folder / "w.duckdb", folder / "store", folder / "lake"

    def build(self, days: dict[str, Any]) -> None:
        """Make the files these, and build the warehouse."""
        write(self.folder / "data", CHAT, days)
        build(self.db, Silent(), data=self.folder / "data", limit=ALL)

    def release(self, name: str) -> Created:
        """Make a release, and compare it with what is hashed anew of the warehouse, of its files, and of a checkout."""
        created = create(self.store, self.db, ReleaseRequest(name))
        assert verify(self.store, name) == differs(self.store, name, str(self.db)) == []
        back = self.folder / f"back_{name}.duckdb"
        checkout(read(self.store, name), back)
        with duckdb.connect(back, read_only=True) as con:
            assert contents_of(con, back.stem).content_id == created.data["content_id"]
        return created

    def write_lake(self) -> LakeResult:
        """Write the lake, and compare its rows with those of the warehouse."""
        result = write_lake(self.lake, [self.db], Silent())
        table = lake_manifest.read(self.lake).table("main.turns")
        assert table
        paths = [str(self.lake / file.path) for file in table.files]
        assert len({*paths}) == len(paths)
        with duckdb.connect(self.db, read_only=True) as con:
            names = ", ".join(column.name for column in table.columns)
            found = con.execute(f"select {names} from read_parquet(?, hive_partitioning = false)", [paths]).fetchall()
            assert sorted(map(str, found)) == sorted(map(str, con.execute(f"select {names} from turns").fetchall()))
        return result


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


def objects(created: Created, table: str = "main.turns") -> set[str]:
    (entry,) = (entry for entry in created.data["tables"] if entry["table"] == table and entry["corpus"] == "talks")
    return {file["file"] for file in entry.get("objects", [entry])}


def new_rows(result: LakeResult) -> int:
    return sum(part.rows for part in result.parts if part.is_new and part.table == "main.turns")


@pytest.mark.slow
def test_what_is_new_alone_is_hashed_and_written(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[int] = []

    def counted(*args: Any) -> Any:
        groups = rows_hash.group_hashes(*args)
        hashed.append(sum(rows for _, rows, _ in groups))
        return groups

    monkeypatch.setattr(file_hashes, "group_hashes", counted)
    nights.build(DAYS)
    first, before = nights.release("first"), nights.write_lake()
    assert (first.data["format"], new_rows(before)) == (2, 36)
    assert len(objects(first)) > 2
    assert sum(hashed) == 36 + 12 + 12 + 12  # of turns, dialogues, records and participants, each once
    hashed.clear()
    changed = {**DAYS, "day-3": [talk("3", "Other", "words", "Er")], "day-9z": [talk("12", "New")]}
    del changed["day-0"]
    nights.build(changed)
    second, after = nights.release("second"), nights.write_lake()
    assert sum(hashed) == 3 + 1 + 3 * 2
    stay = objects(first) & objects(second)
    assert stay
    assert len(objects(second) - stay) <= 3
    assert 4 <= new_rows(after) < 34
    assert nights.write_lake().outcome == LakeOutcome.UNCHANGED
    assert create(nights.store, nights.db, ReleaseRequest("third")).new == 0


@pytest.mark.slow
def test_what_is_remembered_is_of_a_file_that_nobody_has_changed(nights: Nights) -> None:
    nights.build(DAYS)
    first = nights.release("first")
    nights.db.chmod(0o644)
    with duckdb.connect(nights.db) as con:  # as many rows as before
        con.execute("update main.turns set text = 'By hand' where dialogue_id = 'talks:3' and turn_index = 0")
    second = nights.release("second")
    assert len(objects(second) - objects(first)) == 1
    nights.build({**DAYS, "day-9z": [talk("12", "New")]})
    nights.release("third")  # of files that were read again
    nights.db.chmod(0o644)
    with duckdb.connect(nights.db) as con:  # a dialogue of no file
        for table in ("dialogues", "turns"):
            con.execute(f"insert into {table} select * replace ('talks:x' as dialogue_id) from {table} limit 1")
    assert len(objects(nights.release("fourth"))) == 1


@pytest.mark.slow
def test_what_a_killed_process_has_left_next_to_a_warehouse_is_of_it(nights: Nights) -> None:
    nights.build(DAYS)
    first = nights.release("first")
    nights.db.chmod(0o644)
    killed = (
        "import duckdb, os, sys; con = duckdb.connect(sys.argv[1]); con.execute(sys.argv[2]); os.kill(os.getpid(), 9)"
    )
    edit = "update main.turns set text = 'By hand' where dialogue_id = 'talks:3'"
    assert subprocess.run([sys.executable, "-c", killed, nights.db, edit], check=False).returncode == -9
    second = create(nights.store, nights.db, ReleaseRequest("second"))
    assert second.data["content_id"] != first.data["content_id"]
    nights.build({**DAYS, "day-9z": [talk("12", "New")]})  # puts the log aside
    nights.release("third")


@pytest.mark.slow
def test_what_is_known_of_a_warehouse_is_not_said_of_another_that_has_taken_its_place(nights: Nights) -> None:
    nights.build(DAYS)
    with opened(nights.db) as before:
        nights.build({**DAYS, "day-9z": [talk("12", "New")]})
        other = nights.release("other").data["content_id"]
        assert known_ids(before.con, before.database, nights.db) == (None, None)
        keep_ids(before.con, before.database, nights.db, ContentIds("wrong", "0" * 64))
    with opened(nights.db) as now:
        assert known_ids(now.con, now.database, nights.db) == ("other", other)
    checkout(read(nights.store, "other"), nights.db, force=True)
    nights.db.chmod(0o644)
    with duckdb.connect(nights.db) as con:
        con.execute("update main.turns set text = 'By hand'")
        expected = contents_of(con, nights.db.stem).content_id
    status = json.loads(run("status", "--hash", "--json", "--db", nights.db).stdout)
    assert (status["release"], status["content_id"]) == (None, expected)


@pytest.mark.slow
def test_a_macro_of_the_warehouse_hides_no_rows(nights: Nights) -> None:
    nights.build(DAYS)
    nights.db.chmod(0o644)
    with duckdb.connect(nights.db) as con:
        con.execute("create macro main.min(x) as system.main.max(x)")
    nights.write_lake()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["rows", "hash", "file", "bytes", "twice", "less"])
def test_a_manifest_of_other_objects_is_refused(nights: Nights, what: str) -> None:
    nights.build(DAYS)
    folder = nights.store / "releases/first"
    data = nights.release("first").data
    (turns,) = (table for table in data["tables"] if table["table"] == "main.turns")
    first = turns["objects"][0]
    if what in ("rows", "bytes"):
        first[what] += 1
    elif what == "hash":
        first["rows_hash"] = "0" * 64
    elif what == "file":
        turns["file"] = first["file"]
    elif what == "twice":
        turns["objects"].append(first)
    else:
        turns["objects"].pop()
    content = json.dumps(data)
    checksum = f"{sha256(content.encode()).hexdigest()}  release.json\n"
    for file, text in (("release.json", content), ("release.json.sha256", checksum)):
        (folder / file).chmod(0o644)
        (folder / file).write_text(text)
    with pytest.raises(ReleaseDamaged, match=r"main\.turns"):
        read(nights.store, "first")


def test_nothing_is_remembered_of_a_file_that_others_may_write(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    assert file_hashes.identity_of(path) is None
    path.touch(0o600)
    assert file_hashes.identity_of(path)
    path.chmod(0o620)
    assert file_hashes.identity_of(path) is None
