"""Headlines at the top of a page: what was found, with the number in bold and a link to the talk behind it."""

from collections.abc import Iterable
from itertools import groupby

import streamlit as st

from talkhouse.charts.declared import Headline
from talkhouse.charts.headlines import FilledHeadline, fill
from talkhouse.dashboard import errors, links, receipt
from talkhouse.dashboard.text import linked, plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.schema.errors import CatalogueError

_PAGES = {"read": "Read", "tasks": "Examples", "sql": "SQL"}
"""What a link to a page is called; to another one, More."""


def put(opened: Warehouse, headlines: Iterable[Headline]) -> None:
    """Draw the sentences that have something to say, one below another, and what opens their receipts.

    One that is broken says so in its place.
    """
    lines, queries = [], {}
    for headline in headlines:
        try:
            found = fill(opened.rows_of_pages, headline, opened.query_files)
        except CatalogueError as error:
            errors.show(str(error), f"The headline '{plain(headline.sentence)}' can't be shown.")
            continue
        if found:
            lines.append(f"- {line(found)}")
            queries[found.text] = found.sql
    if lines:
        st.markdown("\n".join(lines))
        receipt.put_choice(opened, queries)


def line(found: FilledHeadline) -> str:
    """Return a sentence as Markdown, its link after it."""
    runs = groupby(found.parts, key=lambda part: part[1])
    sentence = "".join(_bold(_joined(parts)) if is_value else plain(_joined(parts)) for is_value, parts in runs)
    return f"{sentence} {_link(found)}".rstrip()


def _joined(parts: Iterable[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in parts)


def _bold(text: str) -> str:
    """Write values in bold: Markdown has none for an empty text, nor beside the white space at its ends."""
    inner = text.strip()
    if not inner:
        return plain(text)
    start, _, end = text.partition(inner)
    return f"{plain(start)}**{plain(inner)}**{plain(end)}"


def _link(found: FilledHeadline) -> str:
    if found.dialogue_id or found.record_id:
        return linked("Read", links.read(found.dialogue_id, found.turn_index, record_id=found.record_id))
    return linked(_PAGES.get(found.link.partition("?")[0], "More"), found.link) if found.link else ""
