"""Colours of labels and series, seen by people with any vision of colours, on a white page and on a dark one."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl
import pytest

from talkhouse.charts.draw import NOTHING
from talkhouse.dialogues.schemes import PLAIN, Scale, label_colours

VISIONS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""What is seen of linear red, green and blue: Machado, Oliveira and Fernandes 2009, severity 1."""

PAGES = ("#ffffff", "#171614")
"""The pages of Streamlit's themes."""

XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.95047, 1.0, 1.08883)

Triple = Sequence[float]


def linear(colour: str) -> list[float]:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]


def times(matrix: Sequence[Triple], vector: Triple) -> list[float]:
    return [sum(left * other for left, other in zip(row, vector, strict=True)) for row in matrix]


def contrast(first: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    light, dark = sorted((times(XYZ, linear(colour))[1] + 0.05 for colour in (first, other)), reverse=True)
    return light / dark


def lab(colour: str, vision: str) -> list[float]:
    seen = [min(max(value, 0), 1) for value in times(VISIONS[vision], linear(colour))]
    scaled = [value / white for value, white in zip(times(XYZ, seen), WHITE, strict=True)]
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in scaled)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def nearest(colours: Sequence[str], vision: str) -> float:
    """Return the least distance in CIELAB of two of the colours; 2.3 is just noticeable."""
    seen = [lab(colour, vision) for colour in colours]
    return min(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in combinations(seen, 2))


def every() -> Iterator[str]:
    yield from (*PLAIN, NOTHING)
    for scale in ("good_to_bad", "ordered"):
        yield from label_colours("abcde", scale).values()


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_stands_out_from_the_page(page: str) -> None:
    assert min(contrast(colour, page) for colour in every()) >= 3


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_can_be_told_apart(vision: str) -> None:
    assert nearest([*label_colours("OTX", "good_to_bad").values()], vision) > 35
    assert nearest(PLAIN, vision) > 12


def test_good_is_never_drawn_like_bad() -> None:
    for labels in ("ox", "otx", "abcde"):
        colours = list(label_colours(labels, "good_to_bad").values())
        assert (colours[0], colours[-1]) == ("#009ce4", "#c03c60")
        assert len(set(colours)) == len(labels)


@pytest.mark.parametrize("scale", [None, "good_to_bad", "ordered"])
def test_any_number_of_labels_has_colours(scale: Scale | None) -> None:
    for count in (0, 1, 2, 30):
        labels = [f"label {index}" for index in range(count)]
        colours = label_colours(labels, scale)
        assert list(colours) == labels
        assert pl.Series(list(colours.values()), dtype=pl.String).str.contains(r"^#[0-9a-f]{6}$").all()
