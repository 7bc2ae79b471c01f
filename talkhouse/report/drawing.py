"""What Vega draws in the browser, from an Altair chart."""

from typing import Any

import altair
import vl_convert

VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Of Vega-Lite, as Altair writes it."""

_TEXT = "currentColor"
_LINES = "rgba(128, 128, 128, 0.3)"
_CONFIG = {
    "background": None,
    "font": "system-ui, sans-serif",
    "aria": False,
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
        "maxExtent": 260,
    },
    "legend": {"labelColor": _TEXT, "titleColor": _TEXT, "labelFontSize": 11, "gradientStrokeColor": None},
}
"""Text has the colour of the page around it, so that it can be read in light and dark; the page names the chart."""


def drawing(chart: altair.Chart) -> dict[str, Any]:
    """Return the specification that Vega draws; Vega-Lite itself is not needed in the page then."""
    # Not checked against the schema of Vega-Lite, which takes as long again: the tests of charts do that.
    specification = chart.to_dict(validate=False)
    drawn: dict[str, Any] = vl_convert.vegalite_to_vega(specification, vl_version=VERSION, config=_CONFIG)
    return {key: value for key, value in drawn.items() if key != "$schema"}
