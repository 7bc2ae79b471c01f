"""Corpus text on a terminal: control characters made visible, hanging indents, JSON that is safe to print."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import output, styled
from talkhouse.visible import escaped_json, visible

if TYPE_CHECKING:
    from rich.text import Text

_BEFORE = 0.4
"""Share of a cut text that comes before the position that it is cut around."""

_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_JSON = ("extra", "arguments")
"""Columns that are JSON."""

_NARROWEST = 20
"""A text gets this many columns even if the terminal has fewer."""


def highlighted(text: str, matches: Iterable[tuple[int, int]], style: str, *, lines: bool = False) -> "Text":
    """Return a text, its control characters visible and its matches in a style; ``lines`` keeps the ends of lines.

    Matches are sorted; where two overlap, both are in the style.
    """
    shown, at = styled(), 0
    for begin, end in matches:
        shown.append(visible(text[at:begin], lines=lines))
        shown.append(visible(text[max(at, begin) : end], lines=lines), style)
        at = max(at, end)
    return shown.append(visible(text[at:], lines=lines))


def around(text: "Text", at: int, cells: int) -> "Text":
    """Cut a text to a width in columns around a position in it, with an ellipsis where something is left out."""
    from rich.cells import cell_len
    from rich.text import Text

    if text.cell_len <= cells:
        return text
    widths = [cell_len(character) for character in text.plain]
    begin, left = at, int(cells * _BEFORE)
    while begin and (left := left - widths[begin - 1]) >= 0:
        begin -= 1
    end, right = begin, cells - 2
    while end < len(widths) and (right := right - widths[end]) >= 0:
        end += 1
    while begin and end == len(widths) and (right := right - widths[begin - 1]) >= 0:
        begin -= 1
    shown = text[begin:end] if begin < end else styled()
    return Text.assemble(_ELLIPSIS if begin else "", shown, _ELLIPSIS if end < len(widths) else "")


def who(role: str, speaker: str | None, kind: str) -> str:
    """Return who said a turn, by role and name, and the kind of turn unless it is a message."""
    name = role if speaker in (None, role) else f"{role} {speaker}"
    return visible(name if kind == "message" else f"{name} ({kind})")


def print_hanging(head: "Text", body: "Text | None" = None) -> None:
    """Print a head and a body beside it: wrapped with a hanging indent on a terminal, unwrapped elsewhere."""
    from rich.text import Text

    body = body or styled()
    if not output.is_terminal:
        print(f"{head.plain}{body.plain}".replace("\n", "\n" + " " * len(head.plain)))
        return
    width = max(output.console.width - head.cell_len, _NARROWEST)
    indent = styled(" " * head.cell_len)
    for number, line in enumerate(body.wrap(output.console, width, overflow="fold") or [styled()]):
        line.rstrip()
        output.print(Text.assemble(indent if number else head, line), soft_wrap=True)


def rows_as_json(content: Any) -> str:
    """Write rows as JSON: columns of JSON as what they are, numbers that JSON can't express as null."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(_unfold(content)), indent=2).decode()
    return escaped_json(text)


def _unfold(content: Any) -> Any:
    import msgspec

    if isinstance(content, list):
        return [_unfold(item) for item in content]
    if not isinstance(content, dict):
        return content
    return {
        name: msgspec.Raw(value.encode()) if name in _JSON and isinstance(value, str) else _unfold(value)
        for name, value in content.items()
    }
