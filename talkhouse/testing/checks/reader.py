"""What a reader keeps away from: networks, and the database."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.registry import folder_of
from talkhouse.ingest.sources import opened
from talkhouse.testing.failure import require
from talkhouse.testing.subject import Subject

DATABASES = {"duckdb", "sqlalchemy"}

_NETWORK = ("socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")
_met: list[str] | None = None
"""What was asked of the network, while anybody wants to know."""
_hooked: list[bool] = []


def the_reader_opens_no_socket(subject: Subject) -> None:
    """The sample is read without asking anything of the network."""
    with _network_calls() as met, opened(disk_files(subject.sample_files, subject.corpus.id)) as (files, _):
        for _outcome in subject.corpus.read(files):
            pass
    require(
        not met, "the reader uses the network", expected="nothing but the files", found=", ".join(dict.fromkeys(met))
    )


@contextmanager
def _network_calls() -> Iterator[list[str]]:
    """Collect what this process asks of the network; an audit hook stays for ever, and so is made once."""
    global _met
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_heard)
    met: list[str] = []
    _met = met
    try:
        yield met
    finally:
        _met = None


def _heard(event: str, _: tuple[Any, ...]) -> None:
    if _met is not None and event in _NETWORK:
        _met.append(event)


def the_reader_imports_no_database(subject: Subject) -> None:
    """No module of the corpus imports DuckDB: a reader yields rows, a writer gets them."""
    folder = folder_of(subject.corpus)
    apart = {folder / "sample", folder / "tests"}
    for path in sorted(folder.rglob("*.py")):
        if not apart & set(path.parents):
            for name in sorted(_imported(path) & DATABASES):
                require(False, f"it imports {name}", where=path, expected="rows in and out; no database")


def _imported(path: Path) -> set[str]:
    """Name the packages that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}
