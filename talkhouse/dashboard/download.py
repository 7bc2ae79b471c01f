"""Rows as a file: made by the command that is shown beside it, when somebody asks for it."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from rich.filesize import decimal

from talkhouse.dashboard import command, errors, warehouse
from talkhouse.visible import visible

SECONDS = 120.0
"""How long it may take to make a file."""

_TYPES = {"csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}
_PREPARED = "prepared_file"


@dataclass(frozen=True)
class Rows:
    """What to download: a view, perhaps one split of it, by ``export``; or the rows of a query, by ``sql``."""

    name: str
    """Of the file, without its ending."""
    view: str = ""
    split: str | None = None
    query: str = ""

    def arguments(self, file_format: str, output: str, query: str, *options: str) -> list[str]:
        """Return the arguments of the command; ``query`` is how it gets the query."""
        where = ["--output", output, "--db", str(warehouse.path()), *options]
        if self.query:
            # What follows two dashes is no option, as a query that begins with a comment would be.
            return ["sql", "--format", file_format, *where, *(["--"] if query.startswith("--") else []), query]
        return ["export", self.view, *([] if self.split is None else ["--split", self.split]), *where]


@dataclass(frozen=True)
class _Prepared:
    """A file that was made; it is removed with the session that it was made for."""

    rows: Rows
    file_format: str
    version: warehouse.Version | None
    folder: TemporaryDirectory[str]
    path: Path


@st.fragment
def put(rows: Rows) -> None:
    """Draw the formats, the command line, and the button that makes the file, then one that downloads it."""
    with st.expander("Download", icon=":material/download:"):
        file_format = st.segmented_control(
            "Format", list(_TYPES), default="csv", required=True, key="file_format", format_func=str.upper
        )
        file_name = f"{rows.name}.{file_format}"
        st.caption("The same file on the command line, where its size has no limit:")
        shown = shlex.join(["talkhouse", *rows.arguments(file_format, file_name, rows.query)])
        st.code(visible(shown, lines=True), language="sh", wrap_lines=True)
        if st.button("Make the file", key="make_file", icon=":material/build:"):
            with errors.shown():
                prepare(rows, file_format)
        found: _Prepared | None = st.session_state.get(_PREPARED)
        if found and (found.rows, found.file_format, found.version) == (rows, file_format, warehouse.version()):
            st.download_button(
                f"Download {decimal(found.path.stat().st_size)}",
                found.path.read_bytes,
                file_name,
                _TYPES[file_format],
                on_click="ignore",
                type="primary",
                icon=":material/download:",
            )


def prepare(rows: Rows, file_format: str) -> None:
    """Make the file, in place of the one that was made before; raises QueryFailed."""
    before: _Prepared | None = st.session_state.pop(_PREPARED, None)
    if before:
        before.folder.cleanup()
    version = warehouse.version()
    folder = TemporaryDirectory(prefix="talkhouse-", ignore_cleanup_errors=True)
    path = Path(folder.name) / f"rows.{file_format}"
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        # A click runs the page again, which ends the command.
        st.button("Stop", key="stop_file", icon=":material/stop:")
        line = st.empty()
        command.run(
            rows.arguments(file_format, str(path), "-", "--memory-limit", command.MEMORY),
            Path(folder.name),
            text=rows.query,
            seconds=SECONDS,
            waiting=lambda passed: line.caption(f"Making the file: {passed:.0f} s"),
            queued=lambda first: line.caption(command.before(first)),
        )
    place.empty()
    st.session_state[_PREPARED] = _Prepared(rows, file_format, version, folder, path)
