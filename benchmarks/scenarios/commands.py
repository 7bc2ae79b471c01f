"""What a command costs before it begins: processes that do next to nothing, beside the libraries that they need."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.scenario import TALKHOUSE, Case, Scenario, Side, talkhouse

_COMMANDS = {
    "--version": ("click", 0.12),
    "--help": ("click", 0.12),
    "sql": ("click, duckdb, rich.console", 0.3),
    "status": ("click, duckdb, rich.console", 0.4),
    "build, nothing to do": ("click, duckdb, rich.console", 0.4),
}
"""What each imports at least, and the seconds that it may take on a quiet machine."""


def _case(folder: Path, *, name: str) -> Case:
    database = folder / "samples.duckdb"
    arguments: list[str | Path] = [name.partition(",")[0]]
    if name[0] != "-":
        subprocess.run([*TALKHOUSE, "build", "--db", str(database)], check=True, capture_output=True)
        arguments += [*(["select 1"] if name == "sql" else []), "--db", database]
    libraries = Side("python, imports alone", (sys.executable, "-c", f"import {_COMMANDS[name][0]}"))
    return Case(name, (talkhouse(*arguments, name=f"talkhouse {arguments[0]}"), libraries))


_CASES: dict[str, Callable[[Path], Case]] = {name: partial(_case, name=name) for name in _COMMANDS}

SCENARIO = Scenario(
    name="commands",
    title="Start a command",
    cases=_CASES,
    quick=tuple(_CASES),
    limit={name: seconds for name, (_, seconds) in _COMMANDS.items()},
    measure="cpu",
    notes=("All are whole processes.",),
)
