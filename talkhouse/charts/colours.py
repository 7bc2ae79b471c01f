"""Colours of labels and of series: one thing has one colour, whatever else is drawn beside it.

Each stands out from white and from a dark page by 3:1 (WCAG 2.2, 1.4.11), and can be told from the others by people who
confuse red with green or blue with yellow, as Machado et al. 2009 model what they see.
"""

from collections.abc import Sequence
from typing import Literal

Scale = Literal["good_to_bad", "ordered"]
"""How labels follow one another, as ``main.schemes.scale`` has it."""

PLAIN = (
    *("#4878a8", "#cc8400", "#bc2a8c", "#30a854", "#e4543c", "#685cc0"),
    *("#5a7200", "#a8849c", "#a44e3c", "#8484f0", "#8a5a66", "#849078"),
)
NOTHING = "#808080"
"""Of what has no value."""

HEAT = ("rgba(72, 120, 168, 0.04)", "rgba(72, 120, 168, 1)")
"""Cells from the least to the greatest value: they grow out of the page, be it light or dark."""

_SCALES: dict[Scale, tuple[str, ...]] = {
    "good_to_bad": ("#009ce4", "#b48400", "#c03c60"),
    "ordered": ("#954aaa", "#00a0a8"),
}


def label_colours(labels: Sequence[str], scale: Scale | None) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each label of a scheme; ``labels`` are all of them in their declared order."""
    if scale:
        most = max(len(labels) - 1, 1)
        return {label: _between(_SCALES[scale], index / most) for index, label in enumerate(labels)}
    return {label: PLAIN[index % len(PLAIN)] for index, label in enumerate(labels)}


def _between(stops: Sequence[str], share: float) -> str:
    """Return the colour at a share (0 to 1) of the way along the stops."""
    place = share * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    pairs = zip(_channels(stops[first]), _channels(stops[first + 1]), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * (place - first)):02x}" for low, high in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
