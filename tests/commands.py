"""Run commands as users do, each in a process of its own; it is forked from one that has imported the code."""

import multiprocessing
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

from talkhouse.cli import main
from talkhouse.ingest.registry import corpora

COMMAND = [sys.executable, "-c", "from talkhouse.cli import main; main()"]
"""A command as Python starts it, for tests that stop it, limit it or leave it."""

_processes = multiprocessing.get_context("forkserver")
_OURS = [
    *("talkhouse.cli.commands", "talkhouse.cli.contents"),
    *("talkhouse.load.staging", "talkhouse.search.containing", "talkhouse.dialogues.dialogue"),
    "talkhouse.warehouse.build_facts",
    *("talkhouse.export.manifest", "talkhouse.export.export", "talkhouse.export.sandbox", "talkhouse.restore.verify"),
    *("talkhouse.replay", "talkhouse.scores.score", "talkhouse.lake.write_lake", "talkhouse.guess.inspection"),
    *(f"talkhouse.ingest.corpora.{corpus_id}" for corpus_id in corpora()),
]
_THEIRS = ["pytest", "alembic", "duckdb_engine", "rich.progress", "click.shell_completion"]
_processes.set_forkserver_preload(["tests.as_a_script", *_OURS, *_THEIRS])


def nothing() -> None:
    """Do nothing."""


def run(
    *arguments: object,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    text: str = "",
    before: Callable[[], object] = nothing,
) -> "subprocess.CompletedProcess[str]":
    """Run a command without a terminal, in which nothing may end with a traceback.

    ``before`` is called in its process, and must be known by its name there.
    """
    done = run_bytes(*arguments, cwd=cwd, env=env, text=text, before=before)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_bytes(
    *arguments: object,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    text: str = "",
    before: Callable[[], object] = nothing,
) -> "subprocess.CompletedProcess[bytes]":
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        stdin.write(text.encode())
        stdin.seek(0)
        streams = [stream.fileno() for stream in (stdin, output, errors)]
        process = _started(arguments, cwd, {"COLUMNS": "100", **(env or {})}, streams, before)
        process.join()
        shown = [os.pread(stream, os.fstat(stream).st_size, 0) for stream in streams[1:]]
    assert process.exitcode is not None
    assert b"Traceback (most recent call last)" not in shown[1], shown[1].decode()
    return subprocess.CompletedProcess(arguments, process.exitcode, *shown)


def on_a_terminal(arguments: Sequence[object], cwd: Path, columns: int = 100) -> str:
    """Run a command on a terminal of its own, and return all that it shows."""
    leader, follower = pty.openpty()
    process = _started(arguments, cwd, {"TERM": "xterm-256color", "COLUMNS": str(columns)}, [follower] * 3)
    os.close(follower)
    shown = read_terminal(leader)
    process.join()
    return shown.decode()


def read_terminal(leader: int) -> bytes:
    """Return all that is shown until the processes on a terminal have ended."""
    shown = b""
    with os.fdopen(leader, "rb", buffering=0) as terminal, suppress(OSError):  # which says that they have ended
        while piece := terminal.read(65_536):
            shown += piece
    return shown


class _Stream:
    """An open file that a new process gets as one of its own."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _received, (DupFd(self._number),)


def _received(stream: Any) -> int:
    return int(stream.detach())


def _started(
    arguments: Sequence[object],
    cwd: Path | None,
    env: dict[str, str],
    streams: list[int],
    before: Callable[[], object] = nothing,
) -> BaseProcess:
    context = ([str(argument) for argument in arguments], cwd or Path.cwd(), {**os.environ, **env})
    process = _processes.Process(target=_main, args=(*context, [_Stream(stream) for stream in streams], before))
    process.start()
    return process


def _main(
    arguments: list[str], cwd: Path, environment: dict[str, str], streams: list[int], before: Callable[[], object]
) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # As Python itself opens them; on a terminal it writes line by line.
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    sys.argv = ["talkhouse", *arguments]
    before()
    main()
