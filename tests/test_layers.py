"""Imports go one way: schema, then migrations, ingest and queries beside each other, then talkhouse, room by room."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BELOW = {
    "schema": set(),
    "migrations": {"schema"},
    "queries": {"schema"},
    "ingest": {"schema"},
    "talkhouse": {"schema", "migrations", "queries", "ingest"},
}
ROOMS: dict[str, set[str]] = {
    "": set(),  # the modules of talkhouse itself
    "explore": {""},
    "query": {""},
    "charts": {""},
    "superset": {"", "charts"},
    "scores": {"", "query"},
    "postgres": {"", "query"},
    "lake": {"", "query"},
    "build": {"", "explore", "query"},
    "restore": {"", "explore", "query", "build"},
    "replay": {"", "explore", "query", "build", "restore"},
    "dashboard": {"", "explore", "query", "charts", "restore"},
    "report": {"", "explore", "query", "charts"},
    "cli": {
        "",
        "explore",
        "query",
        "scores",
        "superset",
        "postgres",
        "lake",
        "dashboard",
        "report",
        "build",
        "restore",
        "replay",
    },
}
"""What each room of talkhouse may import beside its own modules."""
FOR_CORPORA = {
    *("rows", "sources", "file_buffer", "decode", "json_members", "texts", "keys"),
    *(
        "common_rules",
        "outcomes",
        "input_files",
        "file_per_dialogue",
        "stored_record",
        "restatements",
        "corpus",
        "corpora",
    ),
}
"""What a corpus may import of ingest."""
FILES = sorted(path for package in BELOW for path in (ROOT / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Name the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_import_only_what_lies_below(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    ours = {name.split(".")[0] for name in imported(path)} & BELOW.keys()
    assert ours <= BELOW[package] | {package}


def room(module: str) -> str:
    """Name the room of a module of talkhouse; empty for one that lies in none."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else ""


@pytest.mark.parametrize(
    "path", sorted((ROOT / "talkhouse").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_rooms_import_only_what_lies_below(path: Path) -> None:
    own = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert {room(name) for name in imported(path) if name.split(".")[0] == "talkhouse"} <= ROOMS[own] | {own}


def test_every_folder_of_talkhouse_is_a_room() -> None:
    folders = {path.parent.name for path in (ROOT / "talkhouse").glob("*/__init__.py")}
    assert folders == ROOMS.keys() - {""}


@pytest.mark.parametrize("folder", sorted(path.parent for path in (ROOT / "ingest/corpora").glob("*/__init__.py")))
def test_corpora_know_rows_and_not_databases_nor_each_other(folder: Path) -> None:
    for path in folder.rglob("*.py"):
        names = set(imported(path))
        assert not {name for name in names if name.split(".")[0] in {"duckdb", "sqlalchemy", "schema"}}
        inside = {".".join(name.split(".")[:3]) for name in names if name.startswith("ingest.corpora.")}
        assert inside <= {f"ingest.corpora.{folder.name}"}
        above = {name.split(".")[1] for name in names if name.startswith("ingest.")}
        assert above <= FOR_CORPORA


def test_only_loading_sees_a_database() -> None:
    for path in (ROOT / "ingest").glob("*.py"):
        if path.stem not in {"load", "vocabulary", "unload", "record_order"}:
            assert "duckdb" not in set(imported(path)), path


def test_whoever_opens_duckdb_guards_it() -> None:
    own = {"schema/warehouse.py", "talkhouse/lake/relations.py"}  # the guarded way, and a database with nothing in it
    modules = [path for name in BELOW for path in (ROOT / name).rglob("*.py")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in modules}
    opening = {path for path, text in texts.items() if "duckdb.connect(" in text} - own
    assert opening == {path for path in opening if re.search(r"\bguard\(\s*con\b", texts[path])}


@pytest.mark.parametrize("package", BELOW)
def test_modules_import_each_other_in_no_circle(package: str) -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / package).rglob("*.py")
    }
    graph = {name: {other for other in imported(path) if other in modules} - {name} for name, path in modules.items()}
    assert list(TopologicalSorter(graph).static_order())
