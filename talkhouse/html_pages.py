"""Self-contained HTML pages: texts are escaped, styles and scripts allowed by their hashes."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from talkhouse.escaping import visible
from talkhouse.provenance import not_published

_ADDRESS = re.compile(r"https?://\S+")


def environment(templates: Path) -> Environment:
    """Return the Jinja environment for the templates of a folder."""
    env = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_readable,
    )
    env.filters["grouped"] = "{:,}".format
    env.filters["not_published"] = not_published
    env.tests["web"] = lambda value: isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
    return env


def _readable(value: object) -> object:
    """Write out control and hidden characters in a text before it is escaped; HTML stays as it is."""
    return visible(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def own_parts(templates: Path, styles: tuple[str, ...], script: str | None = None) -> dict[str, Any]:
    """Return the ``style`` and ``script`` of a page, from files next to the templates, and the ``policy`` for them.

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


def source(text: str) -> str:
    """Return the source expression that allows an inline script or style with exactly this text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
