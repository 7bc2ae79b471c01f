"""What belongs to a turn or a whole conversation, as HTML: distributions of labels, personas, candidates."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from talkhouse.dashboard.reading.schemes import UNDECLARED, Scheme, Schemes
from talkhouse.dashboard.text import html, tag, text
from talkhouse.explore.items import CALL, RESPONSE, Item, ItemList, Labelled, MessagePart, TurnPart, Votes, leading


def bar_html(counts: Sequence[tuple[str, int]], scheme: Scheme, *, is_of_turns: bool = False) -> str:
    """Return a bar of (label, count) with the counts in words; the bar alone is hidden from screen readers.

    Counts of turns, rather than of votes on one, have no majority and no tie.
    """
    given = dict(counts)
    labels, most = scheme.in_order(given), () if is_of_turns else leading(counts)
    total = sum(given.values())
    pieces = "".join(_piece(scheme, label, given[label], total, is_most=label in most) for label in labels)
    words = "".join(_count(label, given[label], scheme, is_most=label in most) for label in labels)
    tie = text("tie", "tie") if len(most) > 1 else ""
    return tag("span", "bar", pieces, ' aria-hidden="true"') + tag("span", "counts", words + tie)


def _piece(scheme: Scheme, label: str, count: int, total: int, *, is_most: bool) -> str:
    style = f' style="flex-grow:{count};background:{scheme.colour(label)}"'
    title = html(f"{label}: {count:,} of {total:,}", lines=False)
    return tag("span", "piece most" if is_most else "piece", "", f'{style} title="{title}"')


def _count(label: str, count: int, scheme: Scheme, *, is_most: bool) -> str:
    meaning = html(scheme.meanings.get(label, ""), lines=False)
    name = tag("span", "label", html(label or '""', lines=False), f' dir="auto" title="{meaning}"')
    said = tag("span", "unseen", " (the majority)") if is_most else ""
    return tag("span", "vote most" if is_most else "vote", f"{name} {count:,}{said} ")


def is_bar(votes: Votes) -> bool:
    """Whether votes are shown as a bar: those of a few annotators are named instead."""
    return not votes.named and not votes.detailed


def legend_html(votes: Iterable[Votes], schemes: Schemes) -> str:
    """Return what the colours of the bars mean: for each scheme its labels as far as they occur."""
    given: dict[str, set[str]] = {}
    for one in votes:
        if is_bar(one):
            given.setdefault(one.scheme, set()).update(label for label, _ in one.counts)
    return "".join(_scheme(name, labels, schemes.get(name, UNDECLARED)) for name, labels in sorted(given.items()))


def _scheme(name: str, labels: set[str], scheme: Scheme) -> str:
    items = "".join(tag("li", "entry", _entry(label, scheme)) for label in scheme.in_order(labels))
    return tag("div", "legend", text("name", name.partition(".")[2]) + tag("ul", "entries", items))


def _entry(label: str, scheme: Scheme) -> str:
    swatch = tag("span", "swatch", "", f' style="background:{scheme.colour(label)}" aria-hidden="true"')
    meaning = scheme.meanings.get(label)
    return swatch + text("label", label) + (" " + text("meaning", meaning) if meaning else "")


Belongings = Iterable[tuple[str, Votes | ItemList]]
"""What belongs to a turn, each with its record's name."""


def votes_html(items: Belongings, schemes: Schemes) -> str:
    """Return the labels, scheme by scheme; what several records say alike is said once, with their names."""
    return "".join(
        tag(
            "div",
            "votes barred" if is_bar(shown) else "votes one" if len(shown.named) == 1 else "votes",
            _heading(shown.name, records) + given_html(shown, schemes),
        )
        for shown, records in _by_content(items)
        if isinstance(shown, Votes)
    )


def lists_html(items: Belongings) -> str:
    """Return the lists of personas and candidates: the first and the gold items, and all of them at a click."""
    return "".join(
        tag("div", "list", _list(shown, records))
        for shown, records in _by_content(items)
        if isinstance(shown, ItemList)
    )


def _by_content(items: Belongings) -> Iterator[tuple[Votes | ItemList, list[str]]]:
    found: defaultdict[Votes | ItemList, list[str]] = defaultdict(list)
    for record, shown in items:
        found[shown].append(record)
    yield from found.items()


def _heading(name: str, records: list[str]) -> str:
    return tag("div", "heading", text("name", name) + "".join(text("record", one) for one in records if one))


def parts_html(parts: Iterable[TurnPart]) -> str:
    """Return the parts of a turn that are not its text: what they are, and a call with its response."""
    return "".join(map(_turn_part, parts))


def _turn_part(part: TurnPart) -> str:
    head = text("kind", part.kind) + (text("name", part.name) if part.name else "")
    head += text("address", part.address) if part.address else ""
    content = (
        tag("div", "content", html(part.content), ' dir="auto" tabindex="0"')
        if part.content or part.kind == CALL
        else ""
    )
    if part.other_turn is not None:
        arrow = "\N{LEFTWARDS ARROW}" if part.kind == RESPONSE else "\N{RIGHTWARDS ARROW}"
        response = text("said", part.response) if part.response is not None else ""
        content += tag("div", "response", text("reply", f"{arrow} {part.other_turn}") + response)
    return tag("div", "part", head + content)


def given_html(votes: Votes, schemes: Schemes) -> str:
    """Return what annotators gave: each label with what hangs on it, each by name where they are few, or a bar."""
    scheme = schemes.get(votes.scheme, UNDECLARED)
    if votes.detailed:
        return tag("div", "details", "".join(_detailed(one, scheme) for one in votes.detailed))
    if votes.named:
        answers = (_answer(name, labels, scheme) for name, labels in votes.named)
        return tag("div", "answers", "".join(answers))
    return bar_html(votes.counts, scheme)


def _answer(name: str, labels: tuple[str, ...], scheme: Scheme) -> str:
    given = "".join(_label(label, scheme) for label in labels)
    return tag("div", "answer", given + (text("annotator", name) if name else ""))


def _detailed(labelled: Labelled, scheme: Scheme) -> str:
    """Return a label with the words of its span, what its corpus has of it, and who gave it."""
    shown = _label(labelled.label, scheme)
    shown += text("span", labelled.words) if labelled.span else ""
    shown += "".join(text("name", name) + text("value", value) for name, value in labelled.facts)
    return tag("div", "detail", shown + (text("annotator", labelled.annotator) if labelled.annotator else ""))


def _label(label: str, scheme: Scheme) -> str:
    meaning = html(scheme.meanings.get(label, ""), lines=False)
    return tag("span", "label", html(label, lines=False), f' dir="auto" title="{meaning}"')


def _list(shown: ItemList, records: list[str]) -> str:
    owner = f" of {shown.owner}" if shown.owner else ""
    heading = _heading(f"{shown.kind} {shown.name}{owner}: {shown.summary}", records)
    few = tag("div", "items few", "".join(map(_item, shown.shown)))
    if len(shown.shown) == len(shown.items):
        return heading + few
    every = tag("div", "items", "".join(map(_item, shown.items)))
    return f"{heading}<details><summary>Show all {len(shown.items):,}</summary>{every}</details>{few}"


def _item(item: Item) -> str:
    star = tag("span", "star", "★", ' title="gold"') if item.is_gold else ""
    parts = tag("span", "or", "/").join(map(_part, item.parts))
    return tag("div", "item gold" if item.is_gold else "item", tag("span", "index", str(item.position)) + star + parts)


def _part(part: MessagePart) -> str:
    picture = text("picture", part.image_file) if part.image_file else ""
    return text("said", part.text) + picture + (text("record", part.source) if part.source else "")
