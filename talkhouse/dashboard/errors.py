"""What went wrong, on the page: the process stays alive, and the page comes back when the cause is gone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import streamlit as st

from talkhouse.schema.errors import TalkhouseError
from talkhouse.visible import visible

_NEXT = re.compile(r"^  next:     .*$", re.MULTILINE)
"""The line of a message that says what to do next."""

_ON_A_PAGE = {
    "talkhouse views": "see Views and tables, and their columns, on the SQL page",
    "--memory-limit": "read fewer rows or columns",
    "--unsafe": "query only what is in the warehouse: a page can read nothing else",
    "--limit": "select fewer rows",
    "--output": "download the rows",
}
"""What a message advises to type in a terminal -> what to do on a page instead."""


@contextmanager
def shown(headline: str = "This can't be shown.") -> Iterator[None]:
    """Show an error of ours, or of DuckDB, in place of the rest of the page."""
    try:
        yield
    except TalkhouseError as error:
        show(str(error), headline)
    except duckdb.Error as error:
        show(f"the query failed\n  found:    {error}", headline)


def show(message: str, headline: str) -> None:
    """Show a message as it is: what it quotes never acts on the page."""
    st.error(headline, icon=":material/error:")
    st.code(visible(on_a_page(message), lines=True), language=None, wrap_lines=True)


def on_a_page(message: str) -> str:
    """Return a message for those who have a page before them: where it names options of a command, what to do here."""
    return _NEXT.sub(_instead, message)


def _instead(line: re.Match[str]) -> str:
    here = (advice for command, advice in _ON_A_PAGE.items() if command in line[0])
    return f"  next:     {advice}" if (advice := next(here, "")) else line[0]
