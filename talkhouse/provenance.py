"""The note next to a corpus's title everywhere, if its files are not its publisher's."""

from collections.abc import Mapping
from typing import Any

from talkhouse.escaping import visible


def not_published(corpus: Mapping[str, Any]) -> str:
    """Say that a corpus is an invented sample, or what it was made from; empty for its publisher's files.

    ``corpus`` is a row of ``main.corpora``, or what has its columns ``is_sample`` and ``made_from``.
    """
    if corpus["is_sample"]:
        return "invented sample"
    # It stands in a file that somebody made.
    return f"not the published files: made from {visible(corpus['made_from'])}" if corpus["made_from"] else ""
