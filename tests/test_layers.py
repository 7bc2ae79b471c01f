"""Imports go one way: schema, then migrations, ingest and queries, which never meet, then the rooms above them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOP = ("schema", "migrations", "queries", "ingest")
"""Rooms whose folders lie at the top of the repository; in ``talkhouse/`` are links to them."""

COMMON = {*TOP, "", "system", "warehouse"}
ROOMS: dict[str, set[str]] = {
    "schema": set(),
    "migrations": {"schema"},
    "queries": {"schema"},
    "ingest": {"schema"},
    "system": {"schema"},
    "": {*TOP, "system"},  # the modules of talkhouse itself
    "warehouse": {*TOP, "", "system"},
    "dialogues": COMMON,
    "search": COMMON,
    "fetch": {"schema", "ingest", "system", ""},
    "citation": COMMON,
    "personal": COMMON,
    "profile": COMMON | {"personal"},
    "export": COMMON | {"citation", "personal"},
    "packages": COMMON | {"citation", "export", "notes", "personal"},
    "charts": COMMON | {"dialogues"},
    "superset": COMMON | {"charts"},
    "user_files": COMMON | {"export"},
    "scores": COMMON | {"export", "user_files"},
    "notes": COMMON | {"user_files"},
    "overlap": COMMON | {"export"},
    "postgres": COMMON | {"export", "personal"},
    "translation": COMMON,
    "lake_format": COMMON | {"translation"},
    "spark": COMMON | {"translation", "lake_format"},
    "lake": COMMON | {"export", "translation", "lake_format", "spark", "load"},
    "load": COMMON | {"translation", "charts"},
    "restore": COMMON | {"dialogues", "load"},
    "replay": COMMON | {"load", "restore"},
    "dashboard": COMMON
    | {
        "citation",
        "dialogues",
        "search",
        "export",
        "charts",
        "restore",
        "overlap",
        "releases",
        "diff",
        "scores",
        "notes",
        "profile",
    },
    "releases": COMMON | {"load", "citation", "lake_format", "packages", "postgres", "export"},
    "diff": COMMON | {"load", "releases"},
    "guess": COMMON,
    "report": COMMON | {"citation", "dialogues", "export", "charts", "overlap", "personal", "profile"},
}
ROOMS["testing"] = COMMON | {"load", "restore", "translation"}
ROOMS["new_corpus"] = COMMON | {"testing"}
ROOMS["api"] = COMMON | {
    "citation",
    "dialogues",
    "export",
    "load",
    "packages",
    "personal",
    "releases",
    "scores",
    "search",
    "user_files",
}
ROOMS["cli"] = {*ROOMS}
"""What each room may import in addition to its own modules."""

TEMPLATES = ROOT / "talkhouse" / "new_corpus" / "templates"

FOR_CORPORA = {
    *("common_rules", "corpus", "decode", "input_files", "json_members", "keys", "outcomes", "progress"),
    *("rows", "sources", "stored_record"),
}
"""What a corpus may import of ingest."""


def paths() -> Iterator[Path]:
    """List every module of the package once, by its path in the repository; templates of corpora are no modules."""
    for path in sorted((ROOT / "talkhouse").rglob("*.py")):
        if path.relative_to(ROOT).parts[1] not in TOP and not path.is_relative_to(TEMPLATES):
            yield path
    for folder in TOP:
        yield from sorted((ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "talkhouse" else ("talkhouse", *parts)).removesuffix(".__init__")


def room(module: str) -> str:
    """Name the room of a module; empty for one that lies in none. What ``import talkhouse`` has is that of the API."""
    if module == "talkhouse":
        return "api"
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else ""


@cache
def imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


MODULES = {name_of(path): path for path in paths()}


def test_rooms_import_only_what_lies_below() -> None:
    upwards = {
        f"{module} imports {name}"
        for module, path in MODULES.items()
        for name in imported(path) - {"talkhouse"}
        if name.startswith("talkhouse.") and room(name) not in ROOMS[room(module)] | {room(module)}
    }
    assert not upwards


def test_nothing_is_imported_past_talkhouse() -> None:
    for path in (*MODULES.values(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")):
        assert not _PAST.search(path.read_text(encoding="utf-8")), path


_PAST = re.compile(rf"^ *(?:from|import) (?:{'|'.join(TOP)})\b", re.MULTILINE)


def test_every_folder_of_talkhouse_is_a_room() -> None:
    assert {path.parent.name for path in (ROOT / "talkhouse").glob("*/__init__.py")} == ROOMS.keys() - {""}


def test_corpora_know_rows_and_not_databases_nor_each_other() -> None:
    allowed = {f"talkhouse.ingest.{name}" for name in FOR_CORPORA}
    for name, path in MODULES.items():
        folder = re.match(r"talkhouse\.ingest\.corpora\.\w+", name)
        for other in imported(path) if folder else ():
            assert other.split(".")[0] not in {"duckdb", "sqlalchemy"}, path
            if other.startswith("talkhouse.") and other != "talkhouse.ingest":
                assert other.startswith(folder[0]) or ".".join(other.split(".")[:3]) in allowed, path


OF_DECLARED: dict[str, set[str]] = {
    "declaration": set(),
    "record_files": {"declaration"},
    "documents": {"declaration", "record_files"},
    "rows": {"declaration", "record_files"},
}
"""What each room of ingest/declared/ may import of the others; what two of them need lies in declared/ itself."""


def test_formats_of_documents_and_of_rows_never_meet() -> None:
    rooms = (ROOT / "ingest" / "declared").glob("*/__init__.py")
    assert {path.parent.name for path in rooms} == OF_DECLARED.keys()
    for name, path in MODULES.items():
        inside = re.match(r"talkhouse\.ingest\.declared\.(\w+)\b", name)
        for other in imported(path) if inside and inside[1] in OF_DECLARED else ():
            of = re.match(r"talkhouse\.ingest\.declared\.(\w+)\b", other)
            if inside and of and of[1] in OF_DECLARED:
                assert of[1] in OF_DECLARED[inside[1]] | {inside[1]}, (name, other)


def test_only_loading_sees_a_database() -> None:
    for path in (ROOT / "ingest").rglob("*.py"):
        if path.parent.name != "loading":
            assert "duckdb" not in imported(path), path


def test_whoever_opens_duckdb_guards_it() -> None:
    # The guarded way.
    own = {"talkhouse.schema.warehouse"}
    texts = {name: path.read_text() for name, path in MODULES.items()}
    opening = {name for name, text in texts.items() if "duckdb.connect(" in text} - own
    assert opening == {name for name in opening if re.search(r"\bguard\(\s*con\b", texts[name])}


_OPENS = re.compile(
    r"\b(ParquetFile|memory_map|(read|scan)_ipc\w*|pl\.(read|scan)_parquet|pq\.\w+|np\.load|from_pretrained|safe_open)\("
    r"|(read|scan)_parquet\b|parquet_scan|\bopen_stream\(|pyarrow\.(dataset|feather)|pyarrow\.ipc import .*open"
)
_GUARDED = re.compile(r"\b(check_pages|ParquetPages|open_parquet|open_arrow|_unpacked|_check)\(")
OWN_FILES = {
    "written by this command": {
        *("ingest.loading.load_corpus", "ingest.declared.rows.spool", "ingest.corpora._.make.sampler"),
        *("lake.load_lake", "dashboard.tables", "dashboard.outcomes"),
    },
    "an array whose size is compared with its header": {"scores.layouts"},
}


def test_files_of_others_are_opened_behind_a_guard() -> None:
    texts = {name.removeprefix("talkhouse."): path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    opening = {name for name, text in texts.items() if _OPENS.search(text) and not _GUARDED.search(text)}
    assert {re.sub(r"(?<=corpora\.)\w+", "_", name) for name in opening} == set().union(*OWN_FILES.values())


def test_benchmarks_import_what_there_is() -> None:
    # Types are checked of the package alone, and benchmarks are run by hand.
    for path in (ROOT / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in MODULES:
                text = MODULES[node.module].read_text(encoding="utf-8")
                names = [alias.name for alias in node.names if f"{node.module}.{alias.name}" not in MODULES]
                assert all(re.search(rf"\b{name}\b", text) for name in names), (path, node.module, names)


def test_modules_import_each_other_in_no_circle() -> None:
    graph = {
        name: {other for other in imported(path) if other in MODULES and not name.startswith(f"{other}.")} - {name}
        for name, path in MODULES.items()
    }
    assert list(TopologicalSorter(graph).static_order())
