"""Tables and texts in Markdown: what would act on a terminal, hide, or be taken for markup is written out."""

from collections.abc import Iterable, Sequence

from talkhouse.query.text_tables import markdown_line
from talkhouse.visible import visible


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table, and an empty one behind it; a cell that is None is empty."""
    cells = [["" if value is None else plain(str(value)) for value in row] for row in rows]
    return [markdown_line(line).rstrip("\n") for line in (titles, ["---"] * len(titles), *cells)] + [""]


def plain(text: str) -> str:
    """Return a text as Markdown that shows it."""
    return visible(text, lines=True).replace("&", "&amp;").replace("<", "&lt;")


def counted(number: int, what: str) -> str:
    """Return a number with what is counted: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
