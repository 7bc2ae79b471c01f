"""How a notebook shows what Python returns: HTML without scripts, every text escaped, in the colours that are there."""

from collections.abc import Collection, Iterable, Sequence
from html import escape
from pathlib import Path

from talkhouse.escaping import visible

_STYLE = Path(__file__).with_name("notebook.css").read_text(encoding="utf-8")


def fragment(*parts: str) -> str:
    """Return parts that are HTML already as what a notebook shows."""
    return f'<div class="talkhouse tex2jax_ignore mathjax_ignore"><style>\n{_STYLE}</style>{"".join(parts)}</div>'


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
