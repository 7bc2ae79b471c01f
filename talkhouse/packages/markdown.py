"""Tables, code and links in the Markdown of a package: no text in it is taken for markup."""

import re
from collections.abc import Iterable, Sequence

from talkhouse.query.writers import markdown_head, markdown_line
from talkhouse.visible import address, markdown, visible

_TICKS = re.compile("`+")
_OF_THE_WEB = re.compile("https?://", re.IGNORECASE)


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, and an empty one behind it; a cell that is None is empty."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    return [*"".join([markdown_head(titles), *map(markdown_line, cells)]).split("\n"), ""][:-1]


def plain(text: str) -> str:
    """Return a text as Markdown that shows it."""
    return markdown(text, lines=True)


def code(text: str) -> str:
    """Return a text as code in a line."""
    ticks = ticks_around(text, 1)
    blank = " " if len(ticks) > 1 else ""
    return f"{ticks}{blank}{visible(text)}{blank}{ticks}"


def ticks_around(text: str, least: int) -> str:
    """Return the backticks between which a text is code, so many at the least: more than any in it."""
    return "`" * max(least, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 0)


def link(url: str) -> str:
    """Return an address as a link; what is none of the web, as a text."""
    return f"<{address(url)}>" if _OF_THE_WEB.match(url) else plain(url)


def counted(number: int, what: str) -> str:
    """Return a number with what is counted: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
