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

_BUILD = {
    "lock": "talkhouse.build.workspace:locked",
    "clear": "shutil:rmtree",
    "open": "talkhouse.schema.warehouse:connect",
    "template": "talkhouse.build.staging:open_template",
    "keep": "talkhouse.build.staging:copy_kept",
    "read": "talkhouse.build.staging:load_corpus",
    "quarantine": "talkhouse.build.staging:check_quarantine",
    "examples": "talkhouse.build.staging:fill_examples",
    "check": "talkhouse.build.staging:run_checks",
    "record": "talkhouse.build.staging:record_load",
    "sync": "talkhouse.build.workspace:sync",
}
_OF_ANY = {"open": "talkhouse.schema.warehouse:connect", "clear": "shutil:rmtree"}
_RESTORE = {
    **_OF_ANY,
    "write back": "talkhouse.restore.write_back:write_files",
    "write": "talkhouse.restore.write_back:OpenFiles.append",
}
PHASES = {
    "build": {**_BUILD, "plan": "talkhouse.build.run:plan", "publish": "talkhouse.build.run:publish"},
    "replay": {
        **_BUILD,
        "write back": "talkhouse.replay.run:fill",
        "compare": "talkhouse.replay.run:_compare",
        "publish": "talkhouse.replay.run:publish",
    },
    "restore": {**_RESTORE, "move": "talkhouse.system.atomic_output:_move_content"},
    "verify": {**_RESTORE, "compare": "talkhouse.restore.verify:_compared"},
    "export": {
        **_OF_ANY,
        "select": "talkhouse.query.export:select",
        "rows": "talkhouse.query.export:_write",
        "manifest": "talkhouse.query.export:manifest.describe",
        "move": "talkhouse.query.export:move_into_place",
    },
    "package": {
        **_OF_ANY,
        "plan": "talkhouse.packages.plan:_config",
        "rows": "talkhouse.packages.tables:_write_config",
        "rename": "talkhouse.packages.tables:_named",
        "card": "talkhouse.packages.huggingface:card",
        "descriptions": "talkhouse.packages.export:write_descriptions",
        "manifest": "talkhouse.packages.export:write_manifest",
        "move": "talkhouse.system.atomic_output:_move_content",
    },
    "publish": {
        **_OF_ANY,
        "connect": "talkhouse.postgres.publish:connected",
        "plan": "talkhouse.postgres.publish:make_plan",
        "load": "talkhouse.postgres.publish:load",
        "copy": "talkhouse.postgres.load:_copy_rows",
        "compare": "talkhouse.postgres.publish:check_equal",
        "record": "talkhouse.postgres.publish:write_record",
        "replace": "talkhouse.postgres.publish:replace_former",
        "grant": "talkhouse.postgres.publish:_grant",
        "clear": "talkhouse.postgres.publish:drop_replaced",
    },
    "lake": {
        **_OF_ANY,
        "translate": "talkhouse.lake.write_lake:translate",
        "compare": "talkhouse.lake.write_lake:make_plan",
        "write": "talkhouse.lake.lake_files:write",
        "keep": "talkhouse.lake.lake_files:link",
        "publish": "talkhouse.lake.folder:publish",
        "sync": "talkhouse.lake.folder:sync",
        "remove": "talkhouse.lake.folder:_remove_older",
    },
    "new": {
        "look": "talkhouse.guess.new_declaration:looked_into",
        "write": "talkhouse.guess.new_declaration:private_folder",
        "link": "os:link",
        "clear": "shutil:rmtree",
    },
    "save": {
        **_OF_ANY,
        "score": "talkhouse.scores.score:score_examples",
        "save": "talkhouse.warehouse.beside:private_folder",
        "examples": "talkhouse.scores.saved_runs:_save_rows",
        "move": "talkhouse.warehouse.beside:move_into_place",
    },
    "notes": {
        **_OF_ANY,
        "copy": "talkhouse.warehouse.beside:private_folder",
        "move": "talkhouse.warehouse.beside:move_into_place",
    },
    "superset": {
        **_OF_ANY,
        "check": "talkhouse.superset.bundle:_check_declared",
        "datasets": "talkhouse.superset.bundle:dataset",
        "charts": "talkhouse.superset.bundle:chart",
        "pack": "talkhouse.superset.bundle:_write",
        "move": "talkhouse.system.atomic_output:move_into_place",
    },
}
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
    some = [Instant(one.phase, one.nth, one.seconds * turn / rounds) for turn in range(rounds) for one in found]
    # Of more phases than that, the last one and some before it: in the first ones nothing has been made yet.
    return [some[(index + 1) * len(some) // number - 1] for index in range(number)]


def last(trace: Path) -> str:
    """Tell which phase was reached last but for the end, in which what is left is cleared."""
    phases = [line.split("\t")[0] for line in trace.read_text().splitlines()]
    return next(phase for phase in reversed(phases) if phase != "clear")
