"""Writes TOML: any text as a string or key that reads as the same text again."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def toml_string(text: str) -> str:
    """Write a text as a string on one line; what can't be seen is escaped.

    Raises UnicodeEncodeError for half of a surrogate pair, which TOML can't hold.
    """
    text.encode()
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escaped(char)) for char in text) + '"'


def toml_key(name: str) -> str:
    """Write a key, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else toml_string(name)


def toml_value(value: Any) -> str:
    """Write a text, a number, true or false, a list of such, or a mapping, which becomes an inline table."""
    match value:
        case str():
            return toml_string(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case Mapping():
            members = ", ".join(f"{toml_key(name)} = {toml_value(item)}" for name, item in value.items())
            return f"{{ {members} }}" if members else "{}"
        case list() | tuple():
            return "[" + ", ".join(toml_value(item) for item in value) + "]"
        case _:
            raise TypeError(f"{type(value).__name__} is nothing that a declaration holds")


def toml_text(document: Mapping[str, Any]) -> str:
    """Write a document: values first, a ``[table]`` for each mapping, ``[[tables]]`` for each list of mappings."""
    head = {name: value for name, value in document.items() if not _is_table(value) and not _is_tables(value)}
    blocks = ["".join(_lines(head))] if head else []
    for name, value in document.items():
        if _is_table(value):
            blocks.append(f"[{toml_key(name)}]\n" + "".join(_lines(value)))
        elif _is_tables(value):
            blocks += [f"[[{toml_key(name)}]]\n" + "".join(_lines(item)) for item in value]
    return "\n".join(blocks)


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        yield f"{toml_key(name)} = {toml_value(value)}\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_table(item) for item in value)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
