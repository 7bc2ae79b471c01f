"""Text of corpora on a page: shown as it is, whatever it would mean to HTML or Markdown."""

import re
from html import escape

from talkhouse.visible import visible

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~:$^=&\"'@/%])")


def plain(text: str, *, lines: bool = False) -> str:
    """Return a text for what Streamlit reads as Markdown, so that it is shown as it is.

    Labels and captions are Markdown; the options of a selectbox or multiselect are not, and need ``visible`` alone.
    """
    return _MARKDOWN.sub(r"\\\1", visible(text, lines=lines))


def html(text: str, *, lines: bool = True) -> str:
    """Return a text for ``st.html``: escaped, with what acts or hides written out; ``lines`` keeps line ends."""
    return escape(visible(text, lines=lines))
