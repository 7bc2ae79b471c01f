"""What a scenario is: one job, done in several ways on the same files."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

TALKHOUSE = (sys.executable, "-c", "from talkhouse.cli import main; main()")
"""The command as a user has it, without the start of uv."""


@dataclass(frozen=True)
class Side:
    """One way to do the job, run as a process of its own."""

    name: str
    command: tuple[str, ...]
    """The program and its arguments. One that ends in .py is a peer: run by the Python of the script's environment."""
    writes: Path | None = None
    """File or folder that it makes: removed before each run, and its size is told."""
    is_part: bool = False
    """True where its last printed line is JSON with ``seconds`` and ``cpu`` of the part that counts, such as a query
    without the start of Python; or of several, by name, each of which becomes a line of the table."""
    seconds: float = 3600
    """It is stopped after so long, which the table tells."""


@dataclass(frozen=True)
class Case:
    """A scenario at one size, with its files made."""

    sides: tuple[Side, ...]
    """The first is ours, the second what the bar compares it with."""
    size: float = 0
    """Megabytes of input, or whatever else it grows with."""


@dataclass(frozen=True)
class Scenario:
    """A job, what it is compared with, and the ratio that it shall keep."""

    name: str
    title: str
    cases: Mapping[str, Callable[[Path], Case]]
    """By name, what makes the files of a case in a folder of its own and gives it. The folder above it lasts as long as
    the whole run: for files of several scenarios."""
    quick: tuple[str, ...]
    """The cases that ``--quick`` runs."""
    bar: dict[str, float] = field(default_factory=dict)
    """By case, or by case and part ("case: part"): our time (of ``measure``) divided by that of the second side is at
    most this."""
    limit: dict[str, float] = field(default_factory=dict)
    """By case: our median seconds are at most this, on two cores."""
    measure: str = "seconds"
    """What the ratios are of: seconds, cpu (processor seconds) or peak."""
    grows: bool = False
    """True where the cases are one job at several sizes: the table tells how time and memory grow."""
    notes: tuple[str, ...] = ()
    """What a peer can't do, and what the numbers do not say."""

    @property
    def barred(self) -> tuple[str, ...]:
        """The cases that a bar or a limit is for; all where growth is told."""
        meant = {*self.limit, *(bar if bar in self.cases else bar.rpartition(": ")[0] for bar in self.bar)}
        return tuple(case for case in self.cases if self.grows or case in meant)


def command(*arguments: str | Path, name: str = "Talkhouse", writes: Path | None = None) -> Side:
    """Return the side that runs our command."""
    return Side(name, (*TALKHOUSE, *map(str, arguments)), writes)


def ingest(corpus: str, source: Path, *options: str, database: Path | None = None) -> Side:
    """Return the side that loads files into a warehouse, by default one next to them, as a user does."""
    database = database or source.parent / "talkhouse" / "warehouse.duckdb"
    return command("ingest", corpus, source, *options, "--db", database, name="talkhouse ingest", writes=database)


def peer(
    name: str,
    script: str,
    *arguments: str | Path,
    writes: Path | None = None,
    is_part: bool = False,
    seconds: float = 3600,
) -> Side:
    """Return the side that runs a script of ``peers/`` in the environment that its head names."""
    path = Path(__file__).with_name("peers") / f"{script}.py"
    return Side(name, (str(path), *map(str, arguments)), writes, is_part, seconds)


def module(
    name: str, module_name: str, *arguments: str | Path, writes: Path | None = None, is_part: bool = True
) -> Side:
    """Return the side that runs a scenario's own module (``python -m``), such as one that asks a warehouse in Python.

    What the module imports at its top is part of a process that is measured.
    """
    return Side(name, (sys.executable, "-m", module_name, *map(str, arguments)), writes, is_part)


def large_warehouse(folder: Path, share: float, mantis: float | None = None) -> Path:
    """Return a warehouse that the scenarios of a run have in common, made by the first that asks for it.

    ``folder`` is that of the case; for the shares see ``benchmarks.warehouses``.
    """
    path = folder.parent / f"large_{share:g}_{mantis or share:g}.duckdb"
    if not path.exists():
        # In a process of its own, for its memory.
        program = [sys.executable, "-m", "benchmarks.warehouses", str(path), "--share", str(share)]
        program += ["--mantis", str(mantis)] if mantis else []
        subprocess.run(program, check=True, stdout=sys.stderr)
    return path


def growing(name: str, title: str, make: Callable[[int, Path], Case], sizes: dict[str, int]) -> Scenario:
    """Return the scenario in which our side does a job alone at several sizes; ``make`` gives the case of a size."""

    def alone(size: int, folder: Path) -> Case:
        case = make(size, folder)
        return replace(case, sides=case.sides[:1])

    cases = {case: partial(alone, size) for case, size in sizes.items()}
    return Scenario(name, title, cases, quick=(), measure="cpu", grows=True)
