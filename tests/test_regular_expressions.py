"""Every regular expression of ours takes time in proportion to the text, also where it almost fits everywhere."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import process_time
from timeit import repeat
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
_OFTEN = ("\n", "\r\n", " ", "0", "a", '"', '\\"', "\\", "[", "<", "<!-- -->")


def _own_patterns() -> Iterator[tuple[re.Pattern[Any], set[str], str]]:
    """Yield the pattern of each name of a module, and of each call with one: its methods that are used, and where."""
    for path in (path for room in ("schema", "queries", "ingest", "talkhouse") for path in (ROOT / room).rglob("*.py")):
        if "templates" in path.parts or "re." not in (source := path.read_text()):
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        known = vars(import_module(module if module.startswith("talkhouse") else f"talkhouse.{module}"))
        used: dict[str, set[str]] = {name: set() for name, value in known.items() if isinstance(value, re.Pattern)}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and callable(getattr(re.Pattern, node.attr, None)):
                used.get(ast.unparse(node.value), set()).add(node.attr)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner, how = ast.unparse(node.func.value), node.func.attr
                if owner == "re" and hasattr(re.Pattern, how) and isinstance(node.args[0], ast.Constant):
                    yield re.compile(node.args[0].value), {how}, f"{module}:{node.lineno}"
        yield from ((known[name], hows, f"{module}.{name}") for name, hows in used.items())


def _seconds(pattern: re.Pattern[Any], hows: set[str], text: Any, times: int) -> float:
    def used() -> object:
        return pattern.fullmatch(text) if hows and hows <= {"match", "fullmatch"} else [*pattern.finditer(text)]

    return min(repeat(used, timer=process_time, number=1, repeat=times))


@pytest.mark.slow
def test_none_takes_the_square_of_a_text() -> None:
    for pattern, hows, where in _own_patterns():
        is_bytes = isinstance(pattern.pattern, bytes)
        source = pattern.pattern.decode() if is_bytes else pattern.pattern
        units = {*_OFTEN, *source, *re.findall(r"[^\\()\[\]{}.*+?|]+", source)}
        for unit in sorted(units - {"<script>"}):  # which is looked for in Streamlit's own page
            texts = [(unit * letters)[:letters] + "\n\0" for letters in (4_000, 16_000)]
            short, long = (text.encode() if is_bytes else text for text in texts)
            # A square takes longer than this at once; all else is not worth a second look.
            if _seconds(pattern, hows, short, 1) > 0.003:
                assert _seconds(pattern, hows, long, 3) < 8 * _seconds(pattern, hows, short, 3), (where, unit)
