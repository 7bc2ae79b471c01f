"""The patterns of ``[lines]``, which are a stranger's: Rust's, whose time grows with the text, and of bounded size."""

LONGEST_REGEX = 1_000
_TIMES = 5
"""A pattern that is so often in another may be no larger than Rust allows, 10 MB: that bounds its states."""


class BadRegex(ValueError):
    """A text that is no pattern; its message says why."""


def whole_line(pattern: str) -> str:
    """Return the pattern of a whole line."""
    return f"^(?:{pattern})$"


def line_begin(pattern: str) -> str:
    """Return the pattern of the beginning of a line."""
    return f"^(?:{pattern})"


def named_groups(pattern: str) -> list[str]:
    """Return the names of a pattern's groups; raises BadRegex for a text that is none, or one that is too large."""
    if not 0 < len(pattern) <= LONGEST_REGEX:
        raise BadRegex(f"a pattern has 1 to {LONGEST_REGEX:,} letters, not {len(pattern):,}")
    groups = _groups(pattern)
    _groups(whole_line(f"(?:{pattern}){{{_TIMES}}}"))
    return [name for name in groups if not name.isdigit()]


def _groups(pattern: str) -> list[str]:
    # It takes a while to import, and few declarations have a pattern.
    import polars as pl

    try:
        return pl.Series([""]).str.extract_groups(pattern).struct.fields
    except pl.exceptions.ComputeError as error:
        words = str(error).removeprefix("regex error: ")
        if "size limit" in words:
            words = "it is too large: shorten its counted repetitions, such as {0,100}"
        raise BadRegex(words.splitlines()[-1].removeprefix("error: ")) from error
