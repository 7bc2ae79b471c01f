"""Text and names as SQL writes them."""

import re


def literal(text: str) -> str:
    """Write a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Write a name, in double quotes where it needs them."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else quoted(name)


def quoted(name: str) -> str:
    """Write a name in double quotes, whatever it is: also one that is a word of SQL."""
    return '"' + name.replace('"', '""') + '"'
