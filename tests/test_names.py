"""Names that are never given, since they tell nothing of what they stand for, and docstrings that are riddles."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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
