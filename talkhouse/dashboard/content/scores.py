"""Scores: what is in the file of scores beside the warehouse, whatever it is."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import streamlit as st

from schema import warehouse as files
from schema.sql import quoted
from talkhouse.dashboard import tables, warehouse
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Version, Warehouse
from talkhouse.query.row_stream import Rows
from talkhouse.query.writers import write
from talkhouse.relations import relations

SHOWN = 1_000
"""Rows of a table that are shown."""

DOWNLOADED = 100_000
"""Rows of a table that a download has at most."""


def path() -> Path:
    """Return where the file of scores would be."""
    return warehouse.path().with_name("scores.duckdb")


def page() -> None:
    """Draw one of the tables and views of the file."""
    st.title("Scores", anchor=False)
    st.caption(f"What is in the file {plain(path().name)} beside the warehouse. It is opened read-only.")
    opened = _open(warehouse.version(path()) or Version(path(), 0, 0))
    with opened.connection() as con:
        known = {f"{one['schema']}.{one['name']}": one for one in relations(con)}
    name = st.selectbox("Table or view", list(known), key="table", bind="query-params")
    if name is None:
        st.info("There is no table in it.")
        return
    one = known[name]
    st.caption(plain(one["comment"] or ""))
    relation = f"{quoted(one['schema'])}.{quoted(one['name'])}"
    count = opened.rows(f"select count(*) from {relation}").item()
    tables.put(tables.read(_written(opened, relation, "parquet", SHOWN)))
    st.caption(f"{count:,} rows" + (f", of which the first {SHOWN:,} are shown." if count > SHOWN else "."))
    if count > DOWNLOADED:
        st.caption(f"A download has the first {DOWNLOADED:,}.")
    st.download_button(
        "Download as CSV",
        lambda: _written(opened, relation, "csv", DOWNLOADED).getvalue(),
        f"{name}.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


@st.cache_resource(max_entries=1, show_spinner=False)
def _open(version: Version) -> Warehouse:
    return Warehouse(version, files.connect(version.path, alone=True))


def _written(opened: Warehouse, relation: str, file_format: str, limit: int) -> BytesIO:
    """Return the first rows as a file in memory."""
    file = BytesIO()
    stream = TextIOWrapper(file)
    with opened.connection() as con:
        write(Rows(con.sql(f"from {relation}"), limit), file_format, stream)
    stream.detach()
    file.seek(0)
    return file
