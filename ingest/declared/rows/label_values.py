"""Numbers and offsets of labels as the texts that files have."""

from math import isfinite


def to_number(text: str) -> float | None:
    """Read a number; None where there is none, or one that JSON does not have."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def number_text(value: float) -> str:
    """Write a number in the one way that a column gives back: without the ``.0`` of a whole one."""
    return repr(value).removesuffix(".0")


def offset_text(index: int, text: str, *, is_utf16: bool) -> str:
    """Write a place in a text, in code points or in units of UTF-16."""
    return str(len(text[:index].encode("utf-16-le")) // 2 if is_utf16 else index)
