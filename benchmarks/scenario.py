"""What a scenario is: one job, done in several ways on the same files."""

import sys
from collections.abc import Callable
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

    name: str
    sides: tuple[Side, ...]
    """The first is ours, the second what the bar compares it with."""
    size: float = 0
    """Megabytes of input, or whatever ``unit`` says; for growth."""


@dataclass(frozen=True)
class Scenario:
    """A job, what it is compared with, and the ratio that it shall keep."""

    name: str
    title: str
    cases: dict[str, Callable[[Path], Case]]
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


def talkhouse(*arguments: str | Path, name: str = "Talkhouse", writes: Path | None = None) -> Side:
    """Return the side that runs our command."""
    return Side(name, (*TALKHOUSE, *map(str, arguments)), writes)


def ingest(corpus: str, source: Path, *options: str) -> Side:
    """Return the side that loads files into a warehouse beside them, as a user does."""
    database = source.parent / "talkhouse" / "warehouse.duckdb"
    return talkhouse("ingest", corpus, source, *options, "--db", database, name="talkhouse ingest", writes=database)


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
    """Return the side that runs a module of ours (``python -m``), such as one that asks a warehouse in Python."""
    return Side(name, (sys.executable, "-m", module_name, *map(str, arguments)), writes, is_part)


def growing(name: str, title: str, make: Callable[[str, int, Path], Case], sizes: dict[str, int]) -> Scenario:
    """Return the scenario in which our side does a job alone at several sizes; ``make`` gives the case of a size."""

    def alone(case: str, size: int, folder: Path) -> Case:
        made = make(case, size, folder)
        return replace(made, sides=made.sides[:1])

    cases = {case: partial(alone, case, size) for case, size in sizes.items()}
    return Scenario(name, title, cases, quick=(), measure="cpu", grows=True)
