"""The phases of each command: a process writes down which it has reached, and sends itself a signal in one of them."""

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.data_files import data_of

PHASES = data_of(__file__)
"""Phase -> the function that begins it."""

_START = "click.core:Command.__call__"
"""What is reached when all is imported that every command needs."""

_SENT = "sent"


@dataclass(frozen=True)
class Instant:
    """So many seconds after a phase is reached for the nth time."""

    phase: str
    nth: int
    seconds: float


@dataclass(frozen=True)
class Trace:
    """Called in a process, it writes each phase to a file, and at an instant sends a signal to the process group."""

    command: str
    file: Path
    sent: signal.Signals = signal.SIGTERM
    instant: Instant | None = None

    def __call__(self) -> None:
        """Begin."""
        os.setpgid(0, 0)
        self.file.unlink(missing_ok=True)
        seen: dict[str, int] = {}
        for phase, where in {"start": _START, **PHASES[self.command]}.items():
            self._hook(phase, where, seen)

    def _hook(self, phase: str, where: str, seen: dict[str, int]) -> None:
        module, _, path = where.partition(":")
        *parents, name = path.split(".")
        owner: Any = import_module(module)
        for parent in parents:
            owner = getattr(owner, parent)
        function: Callable[..., Any] = getattr(owner, name)

        def reached(*arguments: Any, **options: Any) -> Any:
            self._reach(phase, seen)
            return function(*arguments, **options)

        setattr(owner, name, reached)

    def _reach(self, phase: str, seen: dict[str, int]) -> None:
        seen[phase] = seen.get(phase, 0) + 1
        self._write(f"{phase}\t{seen[phase]}\t{time.monotonic()}")
        if self.instant and (phase, seen[phase]) == (self.instant.phase, self.instant.nth):
            if self.instant.seconds:
                threading.Timer(self.instant.seconds, self._send).start()
            else:
                self._send()

    def _send(self) -> None:
        self._write(_SENT)
        os.killpg(0, self.sent)

    def _write(self, line: str) -> None:
        with self.file.open("a") as stream:
            stream.write(f"{line}\n")


@dataclass(frozen=True)
class Both:
    """Two things to do in a new process, one after the other."""

    first: Callable[[], object]
    second: Callable[[], object]

    def __call__(self) -> None:
        """Do both."""
        self.first()
        self.second()


def hit(trace: Path) -> str | None:
    lines = trace.read_text().splitlines()
    if _SENT not in lines:
        return None
    return lines[lines.index(_SENT) - 1].split("\t")[0]


def instants(trace: Path, number: int) -> list[Instant]:
    """Spread instants over all phases of a process that was not stopped: when each is reached, and inside of it."""
    lines = [line.split("\t") for line in trace.read_text().splitlines()]
    reached = [(phase, int(nth), float(at)) for phase, nth, at in lines]
    ends = [at for _, _, at in reached[1:]] + [reached[-1][2]]
    longest: dict[str, Instant] = {}
    for (phase, nth, at), end in zip(reached, ends, strict=True):
        if phase not in longest or end - at > longest[phase].seconds:
            longest[phase] = Instant(phase, nth, end - at)
    found = list(longest.values())
    rounds = -(-number // len(found))
    some = [Instant(at.phase, at.nth, at.seconds * turn / rounds) for turn in range(rounds) for at in found]
    # Of more phases than that, the last one and some before it: in the first ones nothing has been made yet.
    return [some[(index + 1) * len(some) // number - 1] for index in range(number)]


def last(trace: Path) -> str:
    """Return the phase that was reached last but for the end, in which what is left is cleared."""
    phases = [line.split("\t")[0] for line in trace.read_text().splitlines()]
    return next(phase for phase in reversed(phases) if phase != "clear")
