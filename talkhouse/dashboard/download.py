"""Rows as a file: made by the command that is shown beside it, when somebody asks for it."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from rich.filesize import decimal

from talkhouse.dashboard import command, errors, warehouse
from talkhouse.query.formats import CSV
from talkhouse.visible import visible

SECONDS = 120.0
"""How long it may take to make a file."""

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
class Rows:
    """What to download: a view, or a part of it, by ``export``; the rows of a query, by ``sql``; or a template."""

    name: str
    """Of the file, without its ending."""
    view: str = ""
    split: str | None = None
    query: str = ""
    title: str = "Rows"
    """What it is, where there is a choice."""
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
        """The formats that it can have."""
        return ("zip",) if self.tool else _FILES

    def arguments(self, file_format: str, output: str, query: str, *options: str) -> list[str]:
        """Return the arguments of the command; ``query`` is how it gets the query."""
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

    rows: Rows
    file_format: str
    version: warehouse.Version | None
    folder: TemporaryDirectory[str]
    path: Path


@st.fragment
def draw(*choices: Rows) -> None:
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
        st.caption("The same file on the command line, where its size has no limit:")
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


def _chosen(choices: tuple[Rows, ...]) -> Rows:
    """Draw what there is to download, where that is a choice."""
    if len(choices) == 1:
        return choices[0]
    titles = [choice.title for choice in choices]
    title = st.segmented_control("What", titles, default=titles[0], required=True, key="file_content")
    return choices[titles.index(title)]


def _accepted(rows: Rows) -> list[str]:
    """Draw the acceptance of terms, where the command asks for that; return the option that says so."""
    if rows.query or rows.is_template:
        return []
    says_so = st.checkbox("I keep to the terms of the licences", key="accept_terms", help="Nothing is made without it.")
    return ["--accept-terms"] if says_so else []


def _escaped(file_format: str) -> list[str]:
    """Draw the choice for spreadsheets, where the file may be opened in one; return the option that says so."""
    if file_format not in CSV:
        return []
    says_so = st.checkbox(
        "For a spreadsheet: an apostrophe before texts that it takes for formulas",
        key="escape_formulas",
        help="Without it, every text is exactly as published.",
    )
    return ["--escape-formulas"] if says_so else []


def prepare(rows: Rows, file_format: str, accepted: Sequence[str] = ()) -> None:
    """Make the file, in place of the one that was made before; raises QueryFailed."""
    before: _Prepared | None = st.session_state.pop(_PREPARED, None)
    if before:
        before.folder.cleanup()
    version = warehouse.version()
    folder = TemporaryDirectory(prefix="talkhouse-", ignore_cleanup_errors=True)
    path = Path(folder.name) / f"rows.{file_format}"
    made = Path(folder.name, _PACKAGE) if rows.tool else path
    limit = [] if rows.is_template else ["--memory-limit", command.MEMORY]
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        # A click runs the page again, which ends the command.
        st.button("Stop", key="stop_file", icon=":material/stop:")
        line = st.empty()
        command.run(
            rows.arguments(file_format, str(made), "-", *accepted, *limit),
            Path(folder.name),
            text=rows.query,
            seconds=SECONDS,
            waiting=lambda passed: line.caption(f"Making the file: {passed:.0f} s"),
            queued=lambda first: line.caption(command.before(first)),
        )
    place.empty()
    if rows.tool:
        shutil.make_archive(str(path.with_suffix("")), "zip", made)
    st.session_state[_PREPARED] = _Prepared(rows, file_format, version, folder, path)
