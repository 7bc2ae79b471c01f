"""What went wrong, on the page: the process stays alive, and the page comes back when the cause is gone."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import streamlit as st

from talkhouse.schema.errors import TalkhouseError
from talkhouse.visible import visible


@contextmanager
def shown() -> Iterator[None]:
    """Show an error of ours, or of DuckDB, in place of the rest of the page."""
    try:
        yield
    except TalkhouseError as error:
        show(str(error))
    except duckdb.Error as error:
        show(f"the query failed\n  found:    {error}")


def show(message: str, headline: str = "This can't be shown.") -> None:
    """Show a message as it is: what it quotes never acts on the page."""
    st.error(headline, icon=":material/error:")
    st.code(visible(message, lines=True), language=None, wrap_lines=True)
