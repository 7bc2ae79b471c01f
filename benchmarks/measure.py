"""Runs one side as a process of its own, and measures it with everything that it starts."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from benchmarks.scenario import Side

_INTERVAL = 0.02
"""Seconds between two looks at the memory."""

_LAST_WORDS = 800
"""Characters of what a side printed that are told where it fails."""


@dataclass(frozen=True)
class Run:
    """What one run took."""

    seconds: float
    cpu: float
    """Processor seconds of the process and of all that it waited for."""
    peak: float
    """Largest resident memory of the tree of processes in MB (10^6), looked at every 20 ms."""
    disk: float | None
    """Size of what it wrote in MB."""
    parts: Mapping[str, "Run"] = field(default_factory=dict)
    """What each thing that it did took, where a side does several in one process; memory and disk are the process's."""


class SideFailed(Exception):
    """A side ended with an error, or took too long."""


def run(side: Side) -> Run:
    """Run a side once. Raises SideFailed."""
    if side.writes:
        _remove(side.writes)
        side.writes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as printed:
        begun = time.perf_counter()
        process = subprocess.Popen(
            _command(side),
            stdout=printed,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=_environment(),
        )
        memory = _Memory(process.pid, begun + side.seconds)
        memory.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        memory.end()
        printed.seek(0)
        words = printed.read().decode(errors="replace")
    if memory.is_late:
        raise SideFailed(f"stopped after {side.seconds:.0f} s")
    if status:
        raise SideFailed(f"ended with {process.returncode}: {words[-_LAST_WORDS:].strip()}")
    # What the system says begins with the memory of the parent: only where the process was too short to be looked at.
    peak = (memory.peak or used.ru_maxrss * 1024) / 1e6
    whole = Run(seconds, used.ru_utime + used.ru_stime, peak, _size(side.writes))
    return _reported(whole, json.loads(words.strip().splitlines()[-1])) if side.is_part else whole


def _reported(whole: Run, report: dict[str, Any]) -> Run:
    """Return a run with the times that the side told itself."""
    if "seconds" in report:
        return replace(whole, seconds=report["seconds"], cpu=report["cpu"])
    return replace(whole, parts={name: replace(whole, **times) for name, times in report.items()})


class _Memory(threading.Thread):
    """Looks at the memory of a process and its descendants; stops them at the end of their time."""

    def __init__(self, pid: int, end: float) -> None:
        super().__init__(daemon=True)
        self.peak, self.is_late = 0, False
        self._pid, self._end, self._has_ended = pid, end, threading.Event()

    def run(self) -> None:
        process = psutil.Process(self._pid)
        while not self._has_ended.wait(_INTERVAL):
            self.peak = max(self.peak, _resident(process))
            if time.perf_counter() > self._end:
                self.is_late = True
                os.killpg(self._pid, signal.SIGKILL)
                return

    def end(self) -> None:
        self._has_ended.set()
        self.join()


def _resident(process: psutil.Process) -> int:
    total = 0
    try:
        for child in (process, *process.children(recursive=True)):
            try:
                total += child.memory_info().rss
            except psutil.Error:
                continue
    except psutil.Error:
        return 0
    return total


def _environment() -> dict[str, str]:
    """Return the environment of a side: Python keeps what it compiled, as it does for users, wherever we are run."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _command(side: Side) -> list[str]:
    program = side.command[0]
    return [python_of(Path(program)), *side.command] if program.endswith(".py") else list(side.command)


@cache
def python_of(script: Path) -> str:
    """Return the Python of a script's own environment, of our Python; it is made where it is not there yet.

    Raises SideFailed.
    """
    for command in (
        ["uv", "sync", "--quiet", "--python", sys.executable, "--script"],
        ["uv", "python", "find", "--script"],
    ):
        done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SideFailed(f"no environment for {script.name}: {done.stderr[-_LAST_WORDS:].strip()}")
    return done.stdout.strip()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _size(path: Path | None) -> float | None:
    if path is None:
        return None
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6
