"""Tokens of texts, as SQL: words, and of scripts without blanks letters for a comparison, pairs for a search."""

import unicodedata

from talkhouse.schema.sql import literal

_WITHOUT_BLANKS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
"""Scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters."""

_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF))
"""Korean has blanks, but joins to a word what other languages write as words of their own."""

_WIDE = "".join(map(chr, (*range(0xFF01, 0xFF5F), *range(0xFF65, 0xFFA0), 0x3000)))
"""Letters and signs of another width than usual; their NFKC forms are one character each, of every Unicode."""
_USUAL = unicodedata.normalize("NFKC", _WIDE)

_LAST = 0x10FFFF


def _ranges(pairs: tuple[tuple[int, int], ...]) -> str:
    return "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in pairs)


def _letter_of(scripts: tuple[tuple[int, int], ...]) -> str:
    """Return the class of the letters of some scripts, named in order."""
    ends = (-1, *(last for _, last in scripts))
    starts = (*(first for first, _ in scripts), _LAST + 1)
    others = tuple((end + 1, start - 1) for end, start in zip(ends, starts, strict=True) if end + 1 < start)
    # RE2 has no intersection of classes: what is in both is what is not outside of one of them.
    return rf"[^\P{{L}}{_ranges(others)}]"


def _word_without(scripts: tuple[tuple[int, int], ...]) -> str:
    return rf"(?:[\p{{M}}\p{{N}}]|[^\P{{L}}{_ranges(scripts)}])+"


LETTER_WITHOUT_BLANKS = _letter_of(_WITHOUT_BLANKS)
"""The expression of a letter of a script that puts no blanks between words."""
_TOKEN = rf"{LETTER_WITHOUT_BLANKS}\p{{M}}*|{_word_without(_WITHOUT_BLANKS)}"


def tokens(text: str) -> str:
    """Return the SQL of the tokens of a text, a list that may be empty; ``text`` is SQL too."""
    return f"regexp_extract_all({_folded(text)}, {literal(_TOKEN)})"


def as_written(text: str) -> str:
    """Return the SQL of a list of the tokens of a text as they are written, each with the tokens that it gives."""
    # Folding joins no two tokens; from one it may make several, as from kana of half width.
    return f"list_transform({_pieces(text, _TOKEN)}, lambda piece: {{written: piece, tokens: {tokens('piece')}}})"


def _folded(text: str) -> str:
    # DuckDB's nfc_normalize ends at a NUL; it parts tokens, as a blank does.
    return f"lower(nfc_normalize(translate({_whole(text)}, {literal(_WIDE)}, {literal(_USUAL)})))"


def _whole(text: str) -> str:
    return f"replace({text}, chr(0), ' ')"


def _pieces(text: str, pattern: str) -> str:
    return f"regexp_extract_all({_whole(text)}, {literal(pattern)})"


_PAIRED = tuple(sorted((*_WITHOUT_BLANKS, *_HANGUL)))
_PAIRED_LETTER = rf"{_letter_of(_PAIRED)}\p{{M}}*"
_RUN = rf"(?:{_PAIRED_LETTER})+|{_word_without(_PAIRED)}"


def search_tokens(text: str) -> str:
    """Return the SQL of the tokens of a text by which it is found, a list; ``text`` is SQL too.

    A token is a run of letters, their marks and digits, in lower case, with the usual width, ß as ss. Of a run in a
    script without blanks, or in Korean, each pair of neighbouring letters is a token; a letter alone is one.
    """
    others = f"translate(replace({_folded(text)}, 'ß', 'ss'), 'ςſµ', 'σsμ')"  # noqa: RUF001
    pairs = "list_transform(range(1, len(letters)), lambda place: letters[place] || letters[place + 1])"
    # The list of letters is an argument of a lambda, so that it is made once.
    of_run = f"list_transform([{_letters('run')}], lambda letters: if(len(letters) < 2, [run], {pairs}))[1]"
    runs = f"flatten(list_transform(regexp_extract_all({others}, {literal(_RUN)}), lambda run: {of_run}))"
    # Most texts are ASCII, which need far fewer tests.
    return f"if(strlen({text}) = length({text}), regexp_extract_all(lower({text}), '[a-z0-9]+'), {runs})"


def search_runs(text: str) -> str:
    """Return the SQL of the runs of a text as they are written, in order, each with its letters and tokens."""
    run = f"{{written: piece, letters: {_letters('piece')}, tokens: {search_tokens('piece')}}}"
    return f"list_transform({_pieces(text, _RUN)}, lambda piece: {run})"


def _letters(run: str) -> str:
    return f"regexp_extract_all({run}, {literal(_PAIRED_LETTER)})"
