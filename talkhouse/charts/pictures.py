"""A drawn chart as a picture of its own, with its title on white: SVG or PNG, made without the network."""

import re
from typing import Any, Literal

import altair
import vl_convert

from talkhouse.visible import visible

VERSION = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Of Vega-Lite, as Altair writes it."""

_WIDTH = 640
"""Pixels of a picture with its axes."""

_SCALE = 2
"""Pixels of a PNG for each of these: so that it can be printed."""

_CONFIG = {"background": "white", "autosize": {"type": "fit-x", "contains": "padding"}, "padding": 12}


def picture(chart: Any, title: str, file_format: Literal["svg", "png"]) -> bytes:
    """Return a chart that ``draw`` has made as a file."""
    # Not checked against the schema of Vega-Lite, which takes as long again: the tests of charts do that.
    specification = chart.properties(width=_WIDTH, title=visible(title)).to_dict(validate=False)
    options: dict[str, Any] = {"vl_version": VERSION, "config": _CONFIG, "allowed_base_urls": []}
    if file_format == "png":
        return vl_convert.vegalite_to_png(specification, scale=_SCALE, **options)
    return vl_convert.vegalite_to_svg(specification, **options).encode()


def file_name(title: str, ending: str) -> str:
    """Return the name of a file for what has a title."""
    name = re.sub(r"[^\w.-]+", "_", title).strip("_.") or "chart"
    return f"{name}.{ending}"
