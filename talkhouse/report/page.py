"""Writes the page: HTML with its styles and scripts inside, in which every text of a corpus is escaped."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from talkhouse.content_policy import source
from talkhouse.made import not_published
from talkhouse.report.drawing import VERSION
from talkhouse.visible import visible

_TEMPLATES = Path(__file__).with_name("templates")

DIAGRAM = _TEMPLATES / "er_diagram.svg"
"""The tables with their keys: drawn by Graphviz, and kept current by its test, so that the report needs neither."""

_ADDRESS = re.compile(r"https?://\S+")


def render(content: Mapping[str, Any], drawings: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page; ``drawings``: id of a figure -> what Vega draws there."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_readable,
    )
    environment.filters["grouped"] = "{:,}".format
    environment.filters["not_published"] = not_published
    environment.tests["web"] = lambda value: isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
    style, script = _own("style.css"), _script()
    inside = {"style": style, "script": script, "policy": _policy(style, script)}
    return environment.get_template("page.html").render(
        {**content, **inside, "drawings": htmlsafe_json_dumps(drawings)}
    )


def _readable(value: object) -> object:
    """Write out what acts or hides in a text before it is escaped; what is HTML already stays."""
    return visible(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def _own(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - it is ours


def _policy(style: str, script: str) -> str:
    """Return the page's Content-Security-Policy: this style, this script, nothing from elsewhere, no code in texts."""
    return (
        f"default-src 'none'; style-src {source(style)}; script-src {source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _script() -> Markup:
    """Return one script: Vega, Vega-Embed, and what draws the charts by them."""
    bundle = vl_convert.javascript_bundle(str(_own("draw.js")), vl_version=VERSION)
    return Markup(bundle.replace("</script", r"<\/script").replace("<!--", r"<\!--"))  # noqa: S704 - no text of a corpus
