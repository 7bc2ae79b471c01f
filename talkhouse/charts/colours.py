"""Colours of labels and of series: one thing has one colour, whatever else is drawn beside it."""

from collections.abc import Sequence
from typing import Literal

Scale = Literal["good_to_bad", "ordered"]
"""How labels follow one another, as ``main.schemes.scale`` has it."""

PLAIN = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888"),
    *("#994455", "#44aa99", "#997700", "#6699cc", "#bb5500", "#9977cc"),
)
"""First Paul Tol's bright scheme, which people with any vision of colours can tell apart."""

_GOOD, _DOUBTFUL, _BAD = "#009988", "#ddaa33", "#bb5566"
"""Told apart by lightness too, for any vision of colours."""


def label_colours(labels: Sequence[str], scale: Scale | None) -> dict[str, str]:
    """Return the colour (``#rrggbb``) of each label of a scheme; ``labels`` are all of them in their declared order."""
    if scale == "good_to_bad":
        colours = [_GOOD, *[_DOUBTFUL] * (len(labels) - 2), _BAD]
        return dict(zip(labels, colours, strict=False))
    return {label: PLAIN[index % len(PLAIN)] for index, label in enumerate(labels)}
