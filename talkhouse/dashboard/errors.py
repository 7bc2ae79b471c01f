"""Errors on a page: the process stays alive, and the page comes back when the cause is gone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import streamlit as st

from talkhouse.escaping import visible
from talkhouse.schema.errors import TalkhouseError

_NEXT = re.compile(r"^  next:     .*$", re.MULTILINE)
"""The line of a message with the next step."""

_ON_A_PAGE = {
    "talkhouse views": "see Views and tables, and their columns, on the SQL page",
    "--memory-limit": "read fewer rows or columns",
    "--unsafe": "query only what is in the warehouse: a page can read nothing else",
    "--limit": "select fewer rows",
    "--output": "download the rows",
}
"""Advice for a terminal -> the same for a page."""


@contextmanager
def shown(headline: str = "This can't be shown.") -> Iterator[None]:
    """Show a Talkhouse or DuckDB error in place of the rest of the page."""
    try:
        yield
    except TalkhouseError as error:
        show(str(error), headline)
    except duckdb.Error as error:
        show(f"the query failed\n  found:    {error}", headline)


def show(message: str, headline: str) -> None:
    """Show a message verbatim: quoted text is never Markdown or HTML."""
    st.error(headline, icon=":material/error:")
    st.code(visible(on_a_page(message), lines=True), language=None, wrap_lines=True)


def on_a_page(message: str) -> str:
    """Return a message for readers of a page: advice on command options becomes advice for the page."""
    return _NEXT.sub(_instead, message)


def _instead(line: re.Match[str]) -> str:
    here = (advice for command, advice in _ON_A_PAGE.items() if command in line[0])
    return f"  next:     {advice}" if (advice := next(here, "")) else line[0]
