"""Texts as BibTeX and LaTeX read them, in UTF-8: no character of a text acts on either, and braces come in pairs."""

import re
from urllib.parse import quote

_LATEX = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",  # \{ would not do: BibTeX counts braces, whatever stands before them
    "}": r"{\textbraceright}",
    "<": r"{\textless}",  # in LaTeX's old fonts these three are other characters
    ">": r"{\textgreater}",
    "|": r"{\textbar}",
    "^": r"{\textasciicircum}",
    "~": r"{\textasciitilde}",
    "@": "{@}",  # some readers take @name with a brace after it for a new entry, wherever it stands
    **{sign: f"\\{sign}" for sign in "%&$#_"},
}
_IN_LATEX = str.maketrans(_LATEX)
_IN_ADDRESSES = "%/:?#[]@!$&'()*+,;=~"

_PLAIN_NAME = re.compile(r"[\w.'\u2019 -]+")
_JOINING = re.compile(r"\band\b|\bothers\b", re.IGNORECASE)


def escaped(text: str) -> str:
    """Return a text as LaTeX shows it."""
    return text.translate(_IN_LATEX)


def verbatim(address: str) -> str:
    r"""Return an address or a DOI, which styles take verbatim (``\url``): what can't stand in braces as %7B."""
    return quote(address, safe=_IN_ADDRESSES)


def name(family: str, given: str) -> str:
    """Return the name of an author; in braces where BibTeX would cut it into other parts."""
    if not given:
        return f"{{{escaped(family)}}}"
    return f"{_part(family)}, {_part(given)}"


def _part(text: str) -> str:
    is_plain = _PLAIN_NAME.fullmatch(text) and not _JOINING.search(text)
    return escaped(text) if is_plain else f"{{{escaped(text)}}}"
