"""What stands above the charts of a dashboard, as Markdown: what it is about, what was found, how it counts."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from talkhouse.charts.headlines import FilledHeadline
from talkhouse.superset.filters import ONCE
from talkhouse.visible import plain

_LINE = 150
"""Letters of a line, about."""

_COUNTING = (
    f"*{ONCE}*: a dialogue that several releases publish counts by its default release. To see another release whole, "
    "clear this filter, and choose the release."
)


def text(description: str, found: Iterable[FilledHeadline], built: datetime | None, *, is_counted_once: bool) -> str:
    """Return the text of a dashboard; the numbers in it are those of the build."""
    sentences = [f"- {_sentence(one)}" for one in found]
    if sentences and built:
        sentences.append(f"\nSentences as of the build of {built:%d %B %Y}; the charts show every later build.")
    parts = [plain(description.strip(), lines=True), "\n".join(sentences), _COUNTING if is_counted_once else ""]
    return "\n\n".join(part for part in parts if part)


def height(code: str) -> int:
    """Return the height of a text in units of 8 pixels."""
    return 5 + sum(3 * (1 + len(line) // _LINE) if line else 1 for line in code.splitlines())


def _sentence(found: FilledHeadline) -> str:
    return " ".join(["".join(_parts(found)), *_place(found)])


def _parts(found: FilledHeadline) -> Iterator[str]:
    for part, is_value in found.parts:
        yield f"**{plain(part)}**" if is_value else plain(part)


def _place(found: FilledHeadline) -> Iterator[str]:
    """Say where the sentence can be read: Superset does not know the address of the pages that show it."""
    if place := found.record_id or found.dialogue_id:
        turn = "" if found.turn_index is None else f", turn {found.turn_index}"
        yield plain(f"({place}{turn})")
