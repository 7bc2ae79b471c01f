"""Choices that the address of the page Errors has: each is read from it and written to it."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st


def choose(
    widget: Callable[..., Any],
    name: str,
    title: str,
    options: Sequence[str],
    usual: str | None = None,
    *,
    is_kept: bool = False,
    **how: Any,
) -> Any:
    """Draw a choice that the address has, and return what is chosen; what is usual is left out, unless it ``is_kept``.

    Not bound by Streamlit: with a choice that another one has made impossible, it writes an address of before.
    """
    asked, key = st.query_params.get(name), f"errors.{name}"
    value = asked if asked in options else usual
    if is_kept and value is not None and asked != value:
        st.query_params[name] = value
    st.session_state[key] = value  # what the URL says, also after going back
    return widget(title, options, key=key, on_change=_choose, args=(name, usual, is_kept), **how)


def turn_pages(pages: int) -> int:
    """Draw the choice of a page, where there are several, and return its number, which the address has."""
    asked = st.query_params.get(_PAGE, "")
    number = min(max(int(asked), 1), pages) if asked.isdecimal() and len(asked) < 10 else 1
    if pages > 1:
        st.session_state[f"errors.{_PAGE}"] = number
        number = st.pagination(pages, key=f"errors.{_PAGE}", on_change=_choose, args=(_PAGE, 1, False))
    return number


_PAGE = "dialogues"

RUNS = ("run", "beside")
"""Choices after which those of examples are others."""


def _choose(name: str, usual: object, is_kept: bool) -> None:
    value = st.session_state[f"errors.{name}"]
    for other in st.query_params.to_dict():
        if other == name or (other == _PAGE and name != _PAGE) or (name in RUNS and other.startswith("by_")):
            del st.query_params[other]
    if value is not None and (is_kept or value != usual):
        st.query_params[name] = str(value)
