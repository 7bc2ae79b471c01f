"""What SECURITY.md promises has the tests that it names."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")

ATTACKERS = (
    "another user of the machine", "a website in the browser", "another role in the database", "the author of a file",
    "a writer of the folder", "a server", "the author of SQL",
)  # fmt: skip


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef)}


def test_every_promise_has_a_test_that_exists() -> None:
    assert len(rows()) > 10
    for surface, attacker, promise, tests in rows():
        assert surface
        assert promise
        assert attacker in ("", *ATTACKERS), attacker
        named = re.findall(r"`(tests/[^`:]+)::(test_\w+)`", tests)
        assert named, f"no test holds: {surface}, {attacker}"
        assert len(named) == tests.count("`") / 2
        for path, name in named:
            assert name in functions_of(ROOT / path), f"{path}::{name}"
