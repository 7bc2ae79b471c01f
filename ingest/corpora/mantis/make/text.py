"""What the authors' code does to a text, and what it looks for in one."""

import re

from talkhouse.ingest.corpora.mantis.format import PLACEHOLDER

_TAG = re.compile(r"<(?!a|br|blockquote|pre|code|/blockquote|/pre|/code).*?>")
_GLUED = str.maketrans("", "", "\n\r\t")
_LINK = re.compile(r"href|https?://[A-Za-z0-9$-_! ]")


def clean(text: str) -> str:
    """Remove tags but for links, line breaks, quotations and code; then line feeds, carriage returns and tabs.

    A tag is what stands between ``<`` and the next ``>`` of a line, in plain text too; entities stay as they are.
    """
    return _TAG.sub("", text).translate(_GLUED) or PLACEHOLDER


def has_link(text: str) -> bool:
    """Whether there is a web address, or the letters ``href``."""
    return _LINK.search(text) is not None


def is_edited(text: str) -> bool:
    """Whether a text says that it was edited or is deprecated; ``credit:`` is taken for it, as the authors do."""
    text = text.lower()
    return "edit:" in text or "deprecated:" in text
