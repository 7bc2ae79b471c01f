"""Votes as one bar of all labels in the colours of their scheme, beside it the counts with the majority marked."""

from collections.abc import Iterable, Sequence

from talkhouse.dashboard.reading.markup import tag, text
from talkhouse.dashboard.reading.schemes import UNDECLARED, Scheme, Schemes
from talkhouse.dashboard.text import html
from talkhouse.explore.items import Votes, leading


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
    """Tell whether votes are shown as a bar: those of a few annotators are named instead."""
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
