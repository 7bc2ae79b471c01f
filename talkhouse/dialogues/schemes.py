"""Annotation schemes as people see them: their labels in order, each in its colour, and votes as a bar.

Each colour stands out from white and from a dark page by 3:1 (WCAG 2.2, 1.4.11), and can be told from the others by
people who confuse red with green or blue with yellow, as Machado et al. 2009 model what they see.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from talkhouse.schema.sql_files import sql_of

Scale = Literal["good_to_bad", "ordered"]
"""How labels follow one another, as ``main.schemes.scale`` has it."""

PLAIN = (
    *("#4878a8", "#cc8400", "#bc2a8c", "#30a854", "#e4543c", "#685cc0"),
    *("#5a7200", "#a8849c", "#a44e3c", "#8484f0", "#8a5a66", "#849078"),
)
_SCALES: dict[Scale, tuple[str, ...]] = {
    "good_to_bad": ("#009ce4", "#b48400", "#c03c60"),
    "ordered": ("#954aaa", "#00a0a8"),
}

_GREY, _FADED = "#808080", 0.6
"""What colours that come again are mixed with, and what share of them is left each time."""

_OTHER = "#9aa1ad"
"""The colour of a label that is not declared."""


def label_colours(labels: Sequence[str], scale: Scale | None) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each label of a scheme; ``labels`` are all of them in their declared order."""
    if scale:
        most = max(len(labels) - 1, 1)
        return {label: _between(_SCALES[scale], index / most) for index, label in enumerate(labels)}
    return {label: plain_colour(index) for index, label in enumerate(labels)}


def plain_colour(index: int) -> str:
    """Return the colour of a series by its place: behind the last one, they come again, each time closer to grey."""
    again, place = divmod(index, len(PLAIN))
    return _between((PLAIN[place], _GREY), 1 - _FADED**again)


def _between(stops: Sequence[str], share: float) -> str:
    """Return the colour at a share (0 to 1) of the way along the stops."""
    place = share * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    low, high = ([int(colour[start : start + 2], 16) for start in (1, 3, 5)] for colour in stops[first : first + 2])
    pairs = zip(low, high, strict=True)
    return "#" + "".join(f"{round(least + (most - least) * (place - first)):02x}" for least, most in pairs)


@dataclass(frozen=True)
class BarPart:
    """A part of a bar: a label, and how many gave it."""

    label: str
    meaning: str
    count: int
    start: float
    """Where it begins, in percent of the bar."""
    share: float
    """How wide it is, in percent of the bar."""
    colour: str
    is_majority: bool
    """Whether no other label was given more often; on a tie, several are."""


@dataclass(frozen=True)
class LabelScheme:
    """What is declared of a scheme."""

    name: str = ""
    description: str = ""
    target: str = ""
    kind: str | None = None
    scale: Scale | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label -> its meaning, empty where none is declared; in their order."""

    @cached_property
    def colours(self) -> dict[str, str]:
        """The colour of each label, in the order of the labels."""
        return label_colours([*self.labels], self.scale)

    def colour(self, label: str) -> str:
        """Return the colour of a label, declared or not."""
        return self.colours.get(label, _OTHER)

    def in_order(self, labels: Iterable[str]) -> list[str]:
        """Return labels as they are declared, then the others by their characters."""
        places = {label: place for place, label in enumerate(self.labels)}
        return sorted(labels, key=lambda label: (places.get(label, len(places)), label))

    def bar(self, counts: Mapping[str, int]) -> list[BarPart]:
        """Return the parts of a bar of label -> count, in the order of the labels."""
        total, most = sum(counts.values()), max(counts.values(), default=0)
        parts, before = list[BarPart](), 0
        for label in self.in_order(counts):
            count = counts[label]
            start, share = round(100 * before / total, 3), round(100 * count / total, 3)
            meaning = self.labels.get(label, "")
            parts.append(BarPart(label, meaning, count, start, share, self.colour(label), count == most))
            before += count
        return parts

    def including(self, labels: Iterable[str]) -> "LabelScheme":
        """Return the scheme with colours for further labels, which are numbers or free texts."""
        known = {**self.labels, **dict.fromkeys(self.in_order(set(labels) - self.labels.keys()), "")}
        return replace(self, labels=known, scale=self.scale if self.labels else None)


UNDECLARED = LabelScheme()

Schemes = Mapping[str, LabelScheme]
"""Name of a scheme, with its corpus -> the scheme."""


def schemes_sql(where: str = "true", most: int = 1_000_000) -> str:
    """Return the query whose rows ``schemes_of`` takes; ``most``: labels of each scheme."""
    return sql_of(__file__, "schemes", where=where, most=most)


def schemes_of(rows: Iterable[tuple[Any, ...]]) -> dict[str, LabelScheme]:
    """Return the schemes by name, in the order in which they were declared."""
    found = {}
    for (name, description, target, kind, scale), group in groupby(rows, key=itemgetter(0, 1, 2, 3, 4)):
        labels = {label: meaning or "" for *_, label, meaning in group if label is not None}
        found[name] = LabelScheme(name, description, target, kind, scale, labels)
    return found
