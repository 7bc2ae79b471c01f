"""Whether the citation that a corpus declares is an entry of BibTeX already, which is then taken as it is."""

import re

_HEAD = re.compile(r"\s*@(?!(?:comment|string|preamble)\b)[a-z]+\s*\{\s*[a-z0-9_:.+/-]+\s*,", re.IGNORECASE)
_NAME = re.compile(r"\s*[a-z][a-z0-9_-]*\s*=\s*", re.IGNORECASE)
_NUMBER_OR_MONTH = re.compile(r"[0-9]+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_COMMA = re.compile(r"\s*,")
_END = re.compile(r"\s*\}\s*")


def is_entry(text: str) -> bool:
    """Whether a text is one whole entry: its fields are numbers, months, or texts in braces or quotes that end."""
    head = _HEAD.match(text)
    if head is None or "\0" in text:
        return False
    at = head.end()
    while name := _NAME.match(text, at):
        end = _value_end(text, name.end())
        if end is None:
            return False
        comma = _COMMA.match(text, end)
        at = comma.end() if comma else end
        if comma is None:
            break
    return _END.fullmatch(text, at) is not None


def _value_end(text: str, begin: int) -> int | None:
    """Return where a value that begins here ends; None if it never does, or is none."""
    if text[begin : begin + 1] not in ("{", '"'):
        bare = _NUMBER_OR_MONTH.match(text, begin)
        return bare.end() if bare else None
    depth = 0
    for at in range(begin, len(text)):
        sign = text[at]
        depth += {"{": 1, "}": -1}.get(sign, 0)
        is_last = sign == "}" if text[begin] == "{" else sign == '"' and at > begin
        if sign == "@" or depth < 0:  # some readers begin another entry there
            return None
        if depth == 0 and is_last:
            return at + 1
    return None
