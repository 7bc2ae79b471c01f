"""What belongs to a turn or a record, in a few lines: labels, parts, personas, candidates."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from talkhouse.cli.terminal.console import styled
from talkhouse.explore.items import CALL, RESPONSE, Item, ItemList, Labelled, MessagePart, TurnPart, Votes
from talkhouse.visible import visible

if TYPE_CHECKING:
    from rich.text import Text

Line: TypeAlias = "tuple[str, Text]"
"""The head of a line, which is its indent or a position, and the text beside it."""


def lines(shown: Votes | ItemList, *, show_all: bool) -> Iterator[Line]:
    """Yield the lines of what belongs to a turn: of a list the first items and the gold ones, or all."""
    if isinstance(shown, Votes) and shown.detailed:
        yield "", styled(visible(f"{shown.name}:"), "cyan")
        yield from (("  ", _detailed(one)) for one in shown.detailed)
        return
    if isinstance(shown, Votes):
        yield "", styled().append(visible(f"{shown.name}: "), "cyan").append(visible(_given(shown)))
        return
    owner = f" of {shown.owner}" if shown.owner else ""
    yield "", styled(visible(f"{shown.kind} {shown.name}{owner}: {shown.summary}"), "cyan")
    items = shown.items if show_all else shown.shown
    yield from map(_listed, items)
    if left := len(shown.items) - len(items):
        yield "       ", styled(f"... {left:,} more (--all)", "dim")


def part_line(part: TurnPart) -> "Text":
    """Return a part of a turn in one line: ``tool_call clock({"zone": "UTC"}) -> turn 2: 12:00``."""
    text = styled(visible(part.kind), "cyan")
    text.append(visible("".join(f" {fact}" for fact in (part.name, part.address) if fact)))
    content = f"({part.content})" if part.kind == CALL else f": {part.content}" if part.content else ""
    text.append(visible(content))
    if part.other_turn is not None:
        arrow = "from" if part.kind == RESPONSE else "->"
        text.append(visible(f" {arrow} turn {part.other_turn}"), "dim")
        text.append(visible(f": {part.response}" if part.response is not None else ""))
    return text


def _detailed(labelled: Labelled) -> "Text":
    """Return a label with what hangs on it: the words of its span and their place, what the corpus has, by whom."""
    text = styled(visible(labelled.label))
    if labelled.span:
        begin, end = labelled.span
        text.append(visible(f' "{labelled.words}"'), "underline").append(f" [{begin}:{end}]", "dim")
    for name, value in labelled.facts:
        text.append(visible(f"  {name}: "), "dim").append(visible(value))
    return text.append(visible(f" ({labelled.annotator})") if labelled.annotator else "", "dim")


def _listed(item: Item) -> Line:
    """Return an item in one line: its position, a star if it is gold, and its parts."""
    head = f"{'*' if item.is_gold else ' '}{item.position:>4}  "
    return head, styled(" / ".join(map(_named, item.parts)), "green" if item.is_gold else "")


def _named(part: MessagePart) -> str:
    """Return a persona or candidate in one line: its text, its picture, and who made it if that is known."""
    facts = [fact for fact in (part.image_file, part.source) if fact]
    return visible(" ".join([part.text, *(f"[{fact}]" for fact in facts)]))


def _given(votes: Votes) -> str:
    if votes.named:
        return "; ".join(", ".join(labels) + (f" ({name})" if name else "") for name, labels in votes.named)
    counts = "  ".join(f"{label} {count}" for label, count in votes.counts)
    total = sum(count for _, count in votes.counts)
    number = f"{total:,} labels, " if total != votes.annotators else ""
    return f"{counts} ({number}{votes.annotators:,} annotators)"
