"""HTML pages that need nothing else: texts are escaped, styles and scripts allowed by what they are."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from talkhouse.content_policy import source
from talkhouse.made import not_published
from talkhouse.visible import visible

_ADDRESS = re.compile(r"https?://\S+")


def environment(templates: Path) -> Environment:
    """Return what fills the templates of a folder."""
    made = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_readable,
    )
    made.filters["grouped"] = "{:,}".format
    made.filters["not_published"] = not_published
    made.tests["web"] = lambda value: isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
    return made


def _readable(value: object) -> object:
    """Write out what acts or hides in a text before it is escaped; what is HTML already stays."""
    return visible(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def own_parts(templates: Path, styles: tuple[str, ...], script: str | None = None) -> dict[str, Any]:
    """Return the ``style`` and ``script`` of a page, from files beside the templates, and the ``policy`` for them.

    The policy is a Content-Security-Policy: this style, this script or none, and nothing from elsewhere.
    """
    style = _own(templates, *styles)
    code = _own(templates, script) if script else Markup()
    allowed = source(code) if script else "'none'"
    policy = f"default-src 'none'; style-src {source(style)}; script-src {allowed}; base-uri 'none'; form-action 'none'"
    return {"style": style, "script": code, "policy": policy}


def _own(templates: Path, *names: str) -> Markup:
    text = "".join((templates / name).read_text(encoding="utf-8") for name in names)
    return Markup(text)  # noqa: S704 - it is ours
