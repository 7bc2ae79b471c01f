"""Writes the page: HTML with its styles and drawings inside, and no script; every text of a corpus is escaped."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from talkhouse.content_policy import source
from talkhouse.made import not_published
from talkhouse.visible import visible

_TEMPLATES = Path(__file__).with_name("templates")

DIAGRAM = _TEMPLATES / "er_diagram.svg"
"""The tables with their keys: drawn by Graphviz, and kept current by its test, so that the report needs neither."""

_ADDRESS = re.compile(r"https?://\S+")


def render(content: Mapping[str, Any]) -> str:
    """Return the page."""
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
    style = _own("style.css")
    return environment.get_template("page.html").render({**content, "style": style, "policy": _policy(style)})


def _readable(value: object) -> object:
    """Write out what acts or hides in a text before it is escaped; what is HTML already stays."""
    return visible(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def _own(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - it is ours


def _policy(style: str) -> str:
    """Return the page's Content-Security-Policy: this style, nothing from elsewhere, no script at all."""
    return f"default-src 'none'; style-src {source(style)}; script-src 'none'; base-uri 'none'; form-action 'none'"
