"""Scores: what is in the file of scores beside the warehouse, whatever it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path

import duckdb
import streamlit as st

from talkhouse.dashboard import tables, warehouse
from talkhouse.dashboard.content import outcomes
from talkhouse.dashboard.text import plain
from talkhouse.query.formats import TEXTS
from talkhouse.query.row_stream import QueryRows
from talkhouse.query.writers import write
from talkhouse.schema import warehouse as files
from talkhouse.schema.sql import quoted
from talkhouse.visible import visible
from talkhouse.warehouse.relations import relations

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
    with _connection() as con:
        known = {f"{one['schema']}.{one['name']}": one for one in relations(con)}
    if "main.runs" in known:
        there = st.Page(outcomes.page, title="Errors", url_path="errors")
        st.page_link(
            there, label="Where the saved runs are wrong, and where two of them differ", icon=":material/rule:"
        )
    name = st.selectbox("Table or view", list(known), key="table", bind="query-params", format_func=visible)
    if name is None:
        st.info("There is no table in it.")
        return
    one = known[name]
    st.caption(plain(one["comment"] or ""))
    relation = f"{quoted(one['schema'])}.{quoted(one['name'])}"
    rows, count = _read(relation)
    tables.draw(rows)
    st.caption(
        tables.counted(count) + (f", of which the first {rows.height:,} are shown." if count > rows.height else ".")
    )
    st.download_button(
        "Download as CSV" if count <= DOWNLOADED else f"Download the first {DOWNLOADED:,} rows as CSV",
        lambda: _csv(relation),
        f"{name}.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse.beside(path(), partial(files.connect, alone=True)) as con:
        yield con


def _read(relation: str) -> tuple[tables.ConsoleTable, int]:
    """Return the first rows of a table, and how many it has."""
    with _connection() as con:
        (count,) = con.execute(f"select count(*) from {relation}").fetchall()[0]
        return tables.read(_written(con, relation, TEXTS, SHOWN)), count


def _csv(relation: str) -> bytes:
    with _connection() as con:
        return _written(con, relation, "csv", DOWNLOADED).getvalue()


def _written(con: duckdb.DuckDBPyConnection, relation: str, file_format: str, limit: int) -> BytesIO:
    """Return the first rows as a file in memory."""
    file = BytesIO()
    stream = TextIOWrapper(file)
    write(QueryRows(con, con.sql(f"from {relation}"), limit), file_format, stream)
    stream.detach()
    file.seek(0)
    return file
