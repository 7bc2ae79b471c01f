"""The form in which texts are compared, as SQL: normalised, and cut into tokens.

Expressions only, so that a query does it for any number of texts; no function of Python is called from SQL.
"""

import unicodedata

from talkhouse.schema.sql import literal

_WITHOUT_BLANKS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
"""Scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters."""

_WIDE = "".join(map(chr, (*range(0xFF01, 0xFF5F), *range(0xFF65, 0xFFA0), 0x3000)))
"""Letters and signs of another width than usual; their NFKC forms are one character each, of every Unicode."""
_USUAL = unicodedata.normalize("NFKC", _WIDE)

_LAST = 0x10FFFF


def _ranges(pairs: tuple[tuple[int, int], ...]) -> str:
    return "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in pairs)


_ENDS = (-1, *(last for _, last in _WITHOUT_BLANKS))
_STARTS = (*(first for first, _ in _WITHOUT_BLANKS), _LAST + 1)
_OTHERS = tuple((end + 1, start - 1) for end, start in zip(_ENDS, _STARTS, strict=True))

# RE2 has no intersection of classes: what is in both is what is not outside of one of them.
_LETTER_WITHOUT_BLANKS = rf"[^\P{{L}}{_ranges(_OTHERS)}]"
_TOKEN = rf"{_LETTER_WITHOUT_BLANKS}\p{{M}}*|(?:[\p{{M}}\p{{N}}]|[^\P{{L}}{_ranges(_WITHOUT_BLANKS)}])+"


def tokens(text: str) -> str:
    """Return the SQL of the tokens of a text, a list that may be empty; ``text`` is SQL too."""
    # DuckDB's nfc_normalize ends at a NUL; it parts tokens, as a blank does.
    whole = f"replace({text}, chr(0), ' ')"
    folded = f"lower(nfc_normalize(translate({whole}, {literal(_WIDE)}, {literal(_USUAL)})))"
    return f"regexp_extract_all({folded}, {literal(_TOKEN)})"


def as_written(text: str) -> str:
    """Return the SQL of a list of the tokens of a text as they are written, each with the tokens that it gives."""
    # Folding joins no two tokens; from one it may make several, as from kana of half width.
    pieces = f"regexp_extract_all(replace({text}, chr(0), ' '), {literal(_TOKEN)})"
    return f"list_transform({pieces}, lambda piece: {{written: piece, tokens: {tokens('piece')}}})"


def joined(tokens: str) -> str:
    """Return the SQL of tokens as one text: no token has a blank, so that two lists of them are equal if these are."""
    return f"array_to_string({tokens}, ' ')"


def letters_without_blanks(form: str) -> str:
    """Return the SQL of how many tokens of a joined form are letters of scripts without blanks."""
    # Most forms are ASCII, which needs no search.
    found = f"len(regexp_extract_all({form}, {literal(_LETTER_WITHOUT_BLANKS)}))"
    return f"case when strlen({form}) = length({form}) then 0 else {found} end"


def words(tokens: str, letters: str) -> str:
    """Return the SQL of how many words a text has: two letters without blanks count as one, an odd one as none."""
    return f"({tokens} - ({letters} + 1) // 2)"


def runs(form: str, length: int) -> str:
    """Return the SQL of the set of runs of so many tokens of a joined form, each named by a hash; a list."""
    hashed = f"list_transform(string_split({form}, ' '), lambda token: hash(token))"
    parts = ", ".join(f"hashes[place + {offset}]" for offset in range(length))
    places = f"range(1, len(hashes) - {length - 2})"
    # The list of hashes is an argument of a lambda, so that it is made once.
    made = f"list_distinct(list_transform({places}, lambda place: hash({parts})))"
    return f"list_transform([{hashed}], lambda hashes: {made})[1]"
