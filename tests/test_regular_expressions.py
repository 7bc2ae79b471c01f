"""Every regular expression of ours takes time in proportion to the text, also where it almost fits everywhere."""

import ast
import re
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
_CALLS = {"search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"}
_OF_STREAMLIT = "talkhouse.dashboard.server._INLINE"
"""Reads Streamlit's own page, and nothing that another has written."""
_OFTEN = ("\n", "\r\n", " ", "0", "a", '"', '\\"', "\\", "[", "<")


def _ours() -> Iterator[tuple[re.Pattern[Any], set[str], str]]:
    """Yield the pattern of each name of a module, and of each call with one: how it is used, and where."""
    rooms = ("schema", "queries", "ingest", "talkhouse")
    for path in (path for room in rooms for path in (ROOT / room).rglob("*.py")):
        if "templates" in path.parts or "re." not in (source := path.read_text()):
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        known = vars(import_module(module if module.startswith("talkhouse") else f"talkhouse.{module}"))
        used: dict[str, set[str]] = {name: set() for name, value in known.items() if isinstance(value, re.Pattern)}
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
            whose, _, how = ast.unparse(call.func).rpartition(".")
            used.get(whose, set()).add(how)
            if whose == "re" and how in _CALLS and isinstance(call.args[0], ast.Constant):
                yield re.compile(call.args[0].value), {how}, f"{module}:{call.lineno}"
        yield from ((known[name], hows, f"{module}.{name}") for name, hows in used.items())


def _seconds(pattern: re.Pattern[Any], hows: set[str], unit: str, letters: int, times: int) -> float:
    """Return the least time that a text of a repeated unit takes."""
    text: Any = (unit * letters)[:letters] + "\n\0"
    text = text.encode() if isinstance(pattern.pattern, bytes) else text
    seconds = []
    for _ in range(times):
        began = process_time()
        deque([pattern.fullmatch(text)] if hows and hows <= {"match", "fullmatch"} else pattern.finditer(text), 0)
        seconds.append(process_time() - began)
    return min(seconds)


@pytest.mark.slow
def test_none_takes_the_square_of_a_text() -> None:
    slow = []
    for pattern, hows, where in _ours():
        source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        for unit in sorted({*_OFTEN, *source, *re.findall(r"[^\\()\[\]{}.*+?|]+", source)}):
            tried = (pattern, hows, unit)
            # A square takes longer than this at once; all else is not worth a second look.
            is_worth = where != _OF_STREAMLIT and _seconds(*tried, 4_000, 1) > 0.003
            if is_worth and _seconds(*tried, 16_000, 3) > 8 * _seconds(*tried, 4_000, 3):
                slow.append(f"{where}: {pattern.pattern!r} on {unit!r}")
    assert not slow, "\n".join(slow)
