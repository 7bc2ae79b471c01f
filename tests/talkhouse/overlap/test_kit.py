"""Invented corpora that repeat each other, with all rows to be found; another kit may lie next to TALKHOUSE_DATA."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from filelock import FileLock

from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.commands import run

OTHER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "overlap"


class Kit(NamedTuple):
    """A folder with data, expected.json and cases.json, and what it is compared against."""

    folder: Path
    against: tuple[str, ...]


OWN = Kit(Path(__file__).parent / "kit", ("garden_club/train", "seed_logs"))
KITS = [
    pytest.param(OWN, id="own"),
    pytest.param(
        Kit(OTHER, ("harbour/train", "quay_logs/train")),
        id="other",
        marks=pytest.mark.skipif(not OTHER.exists(), reason="there is no other kit beside TALKHOUSE_DATA"),
    ),
]

KEYS = {
    "matches": ("unit", "place", "owner", "turn_index", "other_unit", "other_place"),
    "units": ("unit", "place"),
    "examples": ("corpus_id", "task", "release", "split", "example_index"),
}


@pytest.fixture(scope="session")
def compared(shared_folder: Path) -> Callable[[Kit], duckdb.DuckDBPyConnection]:
    def take(kit: Kit) -> duckdb.DuckDBPyConnection:
        folder = shared_folder / f"overlap_{kit.against[0].replace('/', '_')}"
        with FileLock(f"{folder}.lock"):
            if not (folder / "w.overlap.duckdb").exists():
                folder.mkdir()
                build(folder / "w.duckdb", Silent(), data=kit.folder / "data")
                against = [word for place in kit.against for word in ("--against", place)]
                done = run("overlap", *against, "--db", folder / "w.duckdb")
                assert done.returncode == 0, done.stderr
        return duckdb.connect(folder / "w.overlap.duckdb", read_only=True)

    return take


@pytest.fixture
def with_overlap(compared: Callable[[Kit], duckdb.DuckDBPyConnection], tmp_path: Path) -> Path:
    """A copy of the warehouse of our kit, with only its overlap next to it."""
    with compared(OWN) as con:
        ((path,),) = con.execute("select path from duckdb_databases() where path is not null").fetchall()
    folder = tmp_path / "copied"
    folder.mkdir()
    for name in ("w.duckdb", "w.overlap.duckdb"):
        shutil.copyfile(Path(path).with_name(name), folder / name)
    return folder / "w.duckdb"


def rows(con: duckdb.DuckDBPyConnection, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the rows of a table by their keys, which name each once."""
    result = con.execute(f"from {table}")
    names = [column[0] for column in result.description]
    found = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    by_key = {tuple(row[name] for name in KEYS[table]): row for row in found}
    assert len(by_key) == len(found)
    return by_key


@pytest.mark.parametrize("kit", KITS)
def test_every_row_is_as_expected(kit: Kit, compared: Callable[[Kit], duckdb.DuckDBPyConnection]) -> None:
    expected = json.loads((kit.folder / "expected.json").read_text())
    with compared(kit) as con:
        for table, keys in KEYS.items():
            found = rows(con, table)
            wanted = {tuple(row[name] for name in keys): row for row in expected[table]}
            assert found.keys() == wanted.keys(), table
            assert [{name: found[key][name] for name in row} for key, row in wanted.items()] == [*wanted.values()]


@pytest.mark.parametrize("kit", KITS)
def test_cases_are_as_counted_by_hand(kit: Kit, compared: Callable[[Kit], duckdb.DuckDBPyConnection]) -> None:
    with compared(kit) as con:
        matches, examples = rows(con, "matches"), rows(con, "examples").values()
    verdicts = {(row["dialogue_id"], row["turn_index"]): row["verdict"] for row in examples}
    for case in json.loads((kit.folder / "cases.json").read_text()):
        at = case["dialogue_id"], case["turn_index"]
        row = matches.get(("turn", f"{at[0].split(':')[0]}/test", *at, "turn", case["other_place"]), {})
        names = {"owner": "dialogue_id", "other_owner": "other_dialogue_id"}
        found = {names.get(name, name): value for name, value in row.items()}
        for name in ("other_dialogue_id", "other_turn_index", "kind", "shared", "total", "is_phrase"):
            assert found.get(name) == case[name], (case, name)
        assert verdicts[at] == case["verdict"], case
