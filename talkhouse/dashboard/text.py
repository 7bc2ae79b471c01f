"""Text of corpora on a page: shown as it is, whatever it would mean to HTML or Markdown."""

from html import escape

from talkhouse.visible import plain as plain
from talkhouse.visible import visible


def html(text: str, *, lines: bool = True) -> str:
    """Return a text for ``st.html``: escaped, with what acts or hides written out; ``lines`` keeps line ends."""
    return escape(visible(text, lines=lines))
