"""Text of corpora on a page: shown as it is, whatever it would mean to HTML or Markdown.

Streamlit takes for Markdown what stands on a page, every label and help, and the titles of pages in the navigation:
``plain`` and ``linked`` are for these. Options of a choice, cells of a data frame and code are texts: ``visible``.
"""

import re
from html import escape

from talkhouse.visible import address, visible
from talkhouse.visible import plain as plain

_LEADING = re.compile(r"https?://|[^:]*([?#/]|$)", re.IGNORECASE)
"""How an address begins that a link may have: of the web, or of a page of ours."""


def html(text: str, *, lines: bool = True) -> str:
    """Return a text for ``st.html``: escaped, with what acts or hides written out; ``lines`` keeps line ends."""
    return escape(visible(text, lines=lines))


def linked(text: str, url: str | None) -> str:
    """Return a text as Markdown, which leads to an address if there is one that a link may have."""
    if not url:
        return plain(text)
    return f"[{plain(text)}](<{address(url)}>)" if _LEADING.match(url) else plain(f"{text} ({url})")
