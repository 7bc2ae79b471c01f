"""Rows as a file, made by a command of Talkhouse in a process of its own: the pages stay alive, whatever it does.

All requests of all users together take at most three quarters of the machine's memory: two commands
(``AT_ONCE``) 20 % each, the warehouse that the pages have open 30 %, a file next to it 5 %.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from rich.filesize import decimal

from talkhouse.dashboard import errors, warehouse
from talkhouse.escaping import visible
from talkhouse.export.formats import CSV
from talkhouse.schema.errors import QueryFailed

SECONDS = 120.0
"""Seconds that a file may take."""

_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
}
_FILES = ("csv", "jsonl", "parquet")
_PACKAGE = "package"
_PREPARED = "prepared_file"


@dataclass(frozen=True)
class DownloadFile:
    """A download: a view, or a part of it, by ``export``; the rows of a query, by ``sql``; or a template."""

    name: str
    """The file's name without its ending."""
    view: str = ""
    split: str | None = None
    query: str = ""
    title: str = "Rows"
    """Its label, if there is a choice."""
    where: str | None = None
    columns: str | None = None
    """Separated by commas; None: all."""
    tool: str | None = None
    """The program that a folder is for, which is downloaded as an archive."""
    is_template: bool = False
    """Whether it is the empty prediction table of the task that the view is."""
    release: str | None = None

    @property
    def formats(self) -> tuple[str, ...]:
        """The available formats."""
        return ("zip",) if self.tool else _FILES

    def arguments(self, file_format: str, output: str, query: str, *options: str) -> list[str]:
        """Return the arguments of the command; ``query`` is the argument for the query."""
        where = ["--db", str(warehouse.path()), *options]
        if self.query:
            # What follows two dashes is no option, as a query that begins with a comment would be.
            separator = ["--"] if query.startswith("--") else []
            return ["sql", "--format", file_format, "--output", output, *where, *separator, query]
        chosen = {
            "--split": self.split,
            "--release": self.release,
            "--where": self.where,
            "--columns": self.columns,
            "--for": self.tool,
        }
        options_of = [part for name, value in chosen.items() if value is not None for part in (name, value)]
        if self.is_template:
            return ["score", self.view, "--template", output, *options_of, *where]
        return ["export", self.view, *options_of, "--output", output, *where]


@dataclass(frozen=True)
class _Prepared:
    """A file that was made; it is removed with the session that it was made for."""

    rows: DownloadFile
    file_format: str
    version: warehouse.Version | None
    folder: TemporaryDirectory[str]
    path: Path


@st.fragment
def draw(*choices: DownloadFile) -> None:
    """Draw the formats, the command line, and the button that makes the file, then one that downloads it."""
    with st.expander("Download", icon=":material/download:"):
        rows = _chosen(choices)
        file_format = st.segmented_control(
            "Format",
            rows.formats,
            default=rows.formats[0],
            required=True,
            key="file_format" if rows.formats == _FILES else "archive_format",
            format_func=str.upper,
        )
        accepted = [*_accepted(rows), *_escaped(file_format)]
        file_name = rows.name if rows.tool else f"{rows.name}.{file_format}"
        st.caption("The same file on the command line, without a limit on its size:")
        shown = shlex.join(["talkhouse", *rows.arguments(file_format, file_name, rows.query, *accepted)])
        st.code(visible(shown, lines=True), language="sh", wrap_lines=True)
        if st.button("Make the file", key="make_file", icon=":material/build:"):
            with errors.shown():
                prepare(rows, file_format, accepted)
        found: _Prepared | None = st.session_state.get(_PREPARED)
        if found and (found.rows, found.file_format, found.version) == (rows, file_format, warehouse.version()):
            st.download_button(
                f"Download {decimal(found.path.stat().st_size)}",
                found.path.read_bytes,
                f"{rows.name}.{file_format}",
                _TYPES[file_format],
                on_click="ignore",
                type="primary",
                icon=":material/download:",
            )


def _chosen(choices: tuple[DownloadFile, ...]) -> DownloadFile:
    """Draw the choice of the download, if there are several."""
    if len(choices) == 1:
        return choices[0]
    titles = [choice.title for choice in choices]
    title = st.segmented_control("What", titles, default=titles[0], required=True, key="file_content")
    return choices[titles.index(title)]


def _accepted(rows: DownloadFile) -> list[str]:
    """Draw the acceptance of terms, if the command requires it; return its option."""
    if rows.query or rows.is_template:
        return []
    says_so = st.checkbox("I accept the terms of the licences", key="accept_terms", help="The file needs it.")
    return ["--accept-terms"] if says_so else []


def _escaped(file_format: str) -> list[str]:
    """Draw the choice for spreadsheets, if one may open the file; return its option."""
    if file_format not in CSV:
        return []
    says_so = st.checkbox(
        "For spreadsheets: put an apostrophe before texts that look like formulas",
        key="escape_formulas",
        help="Without it, every text is exactly as published.",
    )
    return ["--escape-formulas"] if says_so else []


def prepare(rows: DownloadFile, file_format: str, accepted: Sequence[str] = ()) -> None:
    """Make the file, and remove the previous one; raises QueryFailed."""
    before: _Prepared | None = st.session_state.pop(_PREPARED, None)
    if before:
        before.folder.cleanup()
    version = warehouse.version()
    folder = TemporaryDirectory(prefix="talkhouse-", ignore_cleanup_errors=True)
    path = Path(folder.name) / f"rows.{file_format}"
    output = Path(folder.name, _PACKAGE) if rows.tool else path
    limit = [] if rows.is_template else ["--memory-limit", MEMORY]
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        # A click runs the page again, which ends the command.
        st.button("Stop", key="stop_file", icon=":material/stop:")
        line = st.empty()
        run_command(
            rows.arguments(file_format, str(output), "-", *accepted, *limit),
            Path(folder.name),
            text=rows.query,
            seconds=SECONDS,
            waiting=lambda passed: line.caption(f"Making the file: {passed:.0f} s"),
            queued=lambda first: line.caption(queue_message(first)),
        )
    place.empty()
    if rows.tool:
        shutil.make_archive(str(path.with_suffix("")), "zip", output)
    st.session_state[_PREPARED] = _Prepared(rows, file_format, version, folder, path)


MOST_BYTES = 100_000_000
"""The maximum size of a file that a page makes: Streamlit holds it in memory while it is downloaded."""

MEMORY = "20%"
"""The share of the machine's memory for a command."""

AT_ONCE = 2
"""Commands that run at a time, for all users; others wait."""

# Without -P, Python would also take modules from the folder that the pages were started in.
_TALKHOUSE = [sys.executable, "-P", "-m", "talkhouse.cli"]
_TICK = 0.1

_queue: list[object] = []
"""Requests for commands in their order: the first ``AT_ONCE`` are running."""


def run_command(
    arguments: Sequence[str],
    folder: Path,
    *,
    text: str = "",
    seconds: float,
    waiting: Callable[[float], object] = lambda _: None,
    queued: Callable[[int], object] = lambda _: None,
) -> None:
    """Run a command that writes into a folder; ``text`` is its standard input.

    ``waiting`` is called repeatedly with the seconds that have passed, and before that, while too many others
    run, ``queued`` with the number ahead. Streamlit stops a page inside these, by an exception: then, as after any
    other, the command is killed, and the next one begins.

    Raises QueryFailed with the command's own message, or if it takes longer or writes more than it may.
    """
    stdin, stderr = folder / "stdin", folder / "stderr"
    stdin.write_text(text, encoding="utf-8", newline="")
    with _turn(queued), stdin.open("rb") as standard_input, stderr.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own program; no shell reads the arguments
            [*_TALKHOUSE, *arguments],
            stdin=standard_input,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        try:
            begin = time.monotonic()
            while process.poll() is None:
                passed = time.monotonic() - begin
                if passed > seconds:
                    raise _too_much("it took too long and was stopped", f"an end within {seconds:g} s")
                if _size(folder) > MOST_BYTES:
                    raise _too_much("the file is too large for a page", f"at most {MOST_BYTES // 1_000_000} MB")
                waiting(passed)
                time.sleep(_TICK)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise QueryFailed(stderr.read_text(encoding="utf-8", errors="replace").strip().removeprefix("error: "))


@contextmanager
def _turn(queued: Callable[[int], object]) -> Iterator[None]:
    """Wait until fewer than ``AT_ONCE`` earlier commands are running."""
    place = object()
    _queue.append(place)
    try:
        while (first := _queue.index(place) + 1 - AT_ONCE) > 0:
            queued(first)
            time.sleep(_TICK)
        yield
    finally:
        _queue.remove(place)


def queue_message(first: int) -> str:
    """Return a message with the number of commands ahead of one that waits."""
    return f"Waiting: {AT_ONCE} queries or files are made at a time, and this one is number {first} in the queue"


def _too_much(problem: str, expected: str) -> QueryFailed:
    return QueryFailed(
        problem, expected=expected, next_step="choose fewer rows, or use the command line, which has no such limit"
    )


def _size(folder: Path) -> int:
    """Return the total size of all files below a folder in bytes, even if the command removes some meanwhile."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size  # noqa: PTH116, PTH118 - os.walk gives texts
            except FileNotFoundError:
                continue
    return total
