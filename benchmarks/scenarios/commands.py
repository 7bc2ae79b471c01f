"""What a command costs before it begins, and the first build: compared with the libraries that they need."""

import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.scenario import TALKHOUSE, Case, Scenario, Side, command

_COMMANDS = {
    "--version": ("click", 0.12),
    "--help": ("click", 0.12),
    "sql": ("click, duckdb, rich.console", 0.3),
    "status": ("click, duckdb, rich.console", 0.4),
    "build, nothing to do": ("click, duckdb, rich.console", 0.4),
}
"""What each imports at least, and the seconds that it may take on a quiet machine."""

_BUILD = "duckdb, polars, sqlalchemy"
"""What a build imports at least."""


def _idle(name: str, folder: Path) -> Case:
    database = folder / "samples.duckdb"
    arguments: list[str | Path] = [name.partition(",")[0]]
    if name[0] != "-":
        subprocess.run([*TALKHOUSE, "build", "--db", str(database)], check=True, capture_output=True)
        arguments += [*(["select 1"] if name == "sql" else []), "--db", database]
    libraries, _ = _COMMANDS[name]
    return Case((command(*arguments, name=f"talkhouse {arguments[0]}"), _imports(libraries)))


def _build(folder: Path) -> Case:
    database = folder / "samples.duckdb"
    return Case((command("build", "--db", database, name="talkhouse build", writes=database), _imports(_BUILD)))


def _first(folder: Path) -> Case:
    cache = folder / "cache"
    build = (*TALKHOUSE, "build", "--dry-run", "--db", str(folder / "samples.duckdb"))
    own = Side("talkhouse build --dry-run", ("env", f"XDG_CACHE_HOME={cache}", *build), cache)
    return Case((own, _imports(_BUILD)))


def _imports(libraries: str) -> Side:
    return Side("python, imports alone", (sys.executable, "-c", f"import {libraries}"))


COMMANDS = Scenario(
    name="commands",
    title="Start a command",
    cases={name: partial(_idle, name) for name in _COMMANDS},
    quick=tuple(_COMMANDS),
    limit={name: seconds for name, (_, seconds) in _COMMANDS.items()},
    measure="cpu",
    notes=("All are whole processes.",),
)

SAMPLES = Scenario(
    name="samples",
    title="Build from nothing: the bundled samples",
    cases={"samples": _build, "first on a machine": _first},
    quick=("samples", "first on a machine"),
    bar={"samples": 2.5},
    limit={"samples": 1.5, "first on a machine": 2},
    measure="cpu",
    notes=(
        "All are whole processes; ours makes a warehouse of five corpora with its checks and views.",
        "The first on a machine has an empty cache folder: it copies what came with the code, if of its DuckDB.",
    ),
)
