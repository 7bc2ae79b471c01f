"""Drawings of an Altair chart that need no script: SVG whose marks say their numbers on pointing."""

import re
from xml.etree import ElementTree

import altair
import vl_convert
from markupsafe import Markup

WIDTH = 460
"""Pixels of a drawing with its axes; a page makes it larger or smaller."""

_VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Of Vega-Lite, as Altair writes it."""

_TEXT = "currentColor"
_LINES = "rgba(128, 128, 128, 0.3)"
_CONFIG = {
    "background": None,
    "font": "DejaVu Sans, Verdana, sans-serif",
    "autosize": {"type": "fit-x", "contains": "padding"},
    "view": {"stroke": None},
    "axis": {
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "domainColor": _LINES,
        "tickColor": _LINES,
        "gridColor": _LINES,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "maxExtent": 200,
    },
    "legend": {"labelColor": _TEXT, "titleColor": _TEXT, "labelFontSize": 11, "gradientStrokeColor": None},
}
"""Text has the colour of the page around it, so that it can be read in light and dark.

It has the page's font, too: the wide one here is what its places are measured by, so that no reader's font overlaps.
"""

_SVG = "http://www.w3.org/2000/svg"
_DIGITS = re.compile(r"(\.\d)\d+")
_OF_ELEMENTS = (
    "font-family",
    "aria-roledescription",
    "aria-label",
    "aria-hidden",
    "role",
    "class",
    "pointer-events",
    "version",
)
"""The font, and what Vega says of elements to who can't see them: the page names the drawing, and has its numbers."""


def svg(chart: altair.Chart, name: str, alternative: str) -> Markup:
    """Return a chart as an SVG element; ``name``: a prefix for its ids, ``alternative``: what it shows, in words."""
    # Not checked against the schema of Vega-Lite, which takes as long again: the tests of charts do that.
    specification = chart.properties(width=WIDTH).to_dict(validate=False)
    drawn = vl_convert.vegalite_to_svg(specification, vl_version=_VERSION, config=_CONFIG)
    root = ElementTree.fromstring(drawn)  # noqa: S314 - Vega wrote it
    _tidy(root, name)
    for length in ("width", "height"):
        root.attrib.pop(length)
    root.set("role", "img")
    root.set("aria-label", alternative)
    ElementTree.register_namespace("", _SVG)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - its texts are escaped


def _tidy(element: ElementTree.Element, name: str) -> None:
    """Leave out what draws nothing, and say on pointing what Vega says of a mark; ids are unique on the page."""
    if element.get("role") == "graphics-symbol" and element.get("aria-roledescription") not in ("axis", "legend"):
        ElementTree.SubElement(element, f"{{{_SVG}}}title").text = element.get("aria-label")
    for key in _OF_ELEMENTS:
        element.attrib.pop(key, None)
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif value.startswith("url(#"):
            element.set(key, value.replace("url(#", f"url(#{name}-"))
        elif key in ("d", "transform"):
            element.set(key, _DIGITS.sub(r"\1", value))
    for child in list(element):
        if child.get("class") in ("background", "foreground"):
            element.remove(child)
        else:
            _tidy(child, name)
