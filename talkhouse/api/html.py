"""How a notebook shows what Python returns: HTML without scripts, every text escaped, in the colours that are there."""

from collections.abc import Collection, Iterable, Sequence
from html import escape

from talkhouse.escaping import visible

_STYLE = """
.talkhouse { color: var(--jp-content-font-color1, inherit); color-scheme: light dark; }
.talkhouse { max-width: 60rem; overflow-x: auto; }
.talkhouse table { border-collapse: collapse; margin: 0.5em 0; }
.talkhouse th, .talkhouse td { border-bottom: 1px solid var(--jp-border-color2, #8886); padding: 0.2em 0.7em; }
.talkhouse th, .talkhouse td { text-align: left; vertical-align: top; background: none; }
.talkhouse .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.talkhouse .note { opacity: 0.75; font-size: 0.9em; margin: 0.1em 0; }
.talkhouse .said { white-space: pre-wrap; overflow-wrap: anywhere; }
.talkhouse ul.note { margin: 0.1em 0; padding-left: 1.5em; }
.talkhouse .turn { border-top: 1px solid var(--jp-border-color2, #8886); padding: 0.3em 0; }
.talkhouse .warning { color: #9a6700; }
@media (prefers-color-scheme: dark) { .talkhouse .warning { color: #d29922; } }
"""


def fragment(*parts: str) -> str:
    """Return parts that are HTML already as what a notebook shows."""
    return f'<div class="talkhouse tex2jax_ignore mathjax_ignore"><style>{_STYLE}</style>{"".join(parts)}</div>'


def text(value: object) -> str:
    """Return a text as HTML: control and hidden characters are written out, and no sign of it begins an element."""
    return escape(visible(str(value), lines=True))


def element(name: str, value: object, kind: str = "") -> str:
    """Return a text in an element of a class."""
    of_class = f' class="{kind}"' if kind else ""
    return f"<{name}{of_class}>{text(value)}</{name}>"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Collection[str] = ()) -> str:
    """Return a table of texts; None is an empty cell, and columns named in ``numbers`` stand to the right."""
    kinds = ["number" if head in numbers else "" for head in heads]
    head = "".join(element("th", head, kind) for head, kind in zip(heads, kinds, strict=True))
    body = "".join(
        "<tr>"
        + "".join(element("td", "" if cell is None else cell, kind) for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
