"""Names that are never given, since they tell nothing of what they stand for, and docstrings that are riddles."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from talkhouse.ingest.registry.origins import OWN
from tests.data_files import data_of
from tests.test_layers import MODULES, ROOT

BANNED = {"one", "said", "given", "made", "kept", "ours", "theirs", "looked", "whose", "told"}
PUBLISHED = {"corpus.py", "manifest.py"}
"""Modules with a field ``given``: the given names of an author, as CSL and CITATION.cff have it."""


def paths() -> Iterator[Path]:
    yield from MODULES.values()
    for folder in ("tests", "benchmarks"):
        yield from (ROOT / folder).rglob("*.py")


def bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module binds."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(asname=str(name)):
                yield name


def test_a_name_tells_what_it_stands_for() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths()
        for name in bound(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_") in BANNED and not (name == "given" and path.name in PUBLISHED)
    }
    assert not found


def test_a_docstring_names_what_is_returned() -> None:
    riddles = re.compile(r'""" *Return (?:what|how|whom)\b')
    found = {str(path) for path in MODULES.values() if riddles.search(path.read_text(encoding="utf-8"))}
    assert not found


# Nothing outside of a corpus's own folders knows it by name, so that somebody else's is treated as ours are.

IDS = sorted(path.parent.name for path in OWN.glob("*/__init__.py"))
NAMED = re.compile("|".join(IDS))
FOLDERS = {ROOT / top / name for top in ("ingest/corpora", "queries", "tests/corpora") for name in IDS}
FOLDERS |= {ROOT / "talkhouse" / "shipped"}  # made from them, and in no repository
FOLDERS |= {ROOT / "tests" / "talkhouse" / "packages" / "golden"}  # packages of a sample, as they were written

EXAMPLE = re.compile(r"^ +talkhouse [a-z]+ |\bsuch as ")
"""Lines of the help: a command that works as it stands on the samples that come with Talkhouse."""

ARGUED = data_of(__file__)["argued"]
"""Tests that ask for rows which only one corpus has. New tests of no corpus in particular invent theirs: ``toy``."""

MOST_LINES = 664
"""How many lines of tests name a corpus at most: a number that falls."""


def named(folder: str) -> dict[Path, list[str]]:
    found = {}
    for path in sorted((ROOT / folder).rglob("*")):
        if not path.is_file() or path.suffix in (".pyc", ".png", ".parquet") or FOLDERS & {*path.parents}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")  # some invented data are no text
        lines = [line for line in text.splitlines() if NAMED.search(line)]
        if lines:
            found[path.relative_to(ROOT)] = lines
    return found


def test_no_code_names_a_corpus() -> None:
    for folder in ("ingest", "migrations", "queries", "schema"):
        assert named(folder) == {}
    lines = {(path, line.strip()) for path, lines in named("talkhouse").items() for line in lines}
    assert {(path, line) for path, line in lines if not EXAMPLE.search(f" {line}")} == set()
    assert {path.parts[:2] for path, _ in lines} <= {("talkhouse", "cli")}, "the help of commands"


def test_tests_that_name_a_corpus_are_argued() -> None:
    found = named("tests")
    assert [str(path) for path in found if not any(path.match(pattern) for pattern in ARGUED)] == []
    assert sum(map(len, found.values())) <= MOST_LINES
    for pattern in ARGUED:
        assert any(path.match(pattern) for path in found), f"nothing is left of {pattern}"
