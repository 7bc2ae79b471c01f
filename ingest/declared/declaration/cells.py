"""How cells, lines and turns are told apart: ``[dialect]``, ``[lines]``, ``[markers]`` and separators."""

from collections import Counter
from collections.abc import Sequence

from talkhouse.ingest.declared.declaration.keys import LONGEST_REGEX, Form, known_tables
from talkhouse.ingest.declared.declaration.model import REVERSED, Dialect, Lines
from talkhouse.ingest.declared.declaration.table import DeclarationTable, one_of, shown


def dialect_of(whole: DeclarationTable) -> Dialect:
    """Return the rules that separate cells."""
    table = whole.table("dialect")
    table.check_keys(table.keys)
    delimiter, quote = table.text("delimiter") if "delimiter" in table else None, table.text("quoteChar", '"')
    if delimiter is not None and not _is_sign(delimiter):
        table.wrong("delimiter", 'one sign of ASCII, such as ";" or "\\t"')
    if quote and not _is_sign(quote):
        table.wrong("quoteChar", 'one sign of ASCII, or "" where quotes are letters like others')
    if quote and quote == delimiter:
        table.wrong("delimiter", "another sign than quoteChar")
    escape = table.text("escapeChar", "")
    if escape and not (_is_sign(escape) and quote and escape != delimiter):
        table.wrong("escapeChar", 'one sign of ASCII, such as "\\\\", for a quoteChar that is not ""')
    return Dialect(delimiter, quote, "" if escape == quote else escape, _names(table))


def _names(table: DeclarationTable) -> tuple[str, ...]:
    """Return the names of columns that no header says."""
    has_header, names = table.flag("header", default=True), table.texts("names")
    if has_header and "names" in table:
        table.fail("names", "'names' with a header, which has the names", expected="header = false, or no 'names'")
    if not has_header and not names:
        expected = 'names = ["conversation", "who", "said"], a name for each column'
        table.fail("names" if "names" in table else "header", "nothing says what the columns are", expected=expected)
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        table.fail("names", f"the column {twice!r:.80} is there twice in 'names'", expected="each name once")
    return names


def check_names(whole: DeclarationTable, dialect: Dialect) -> None:
    """Refuse a column that is none of those that ``names`` has, where there is no header."""
    if dialect.names:
        _check_columns(whole, dialect.names, "{} is none of 'names' in [dialect]")


def text_lines_of(whole: DeclarationTable, form: Form) -> Lines | None:
    """Return the pattern by which lines of text files are rows, or lines of a text are turns, if declared."""
    if "lines" not in whole:
        if form.needs_markers and "turn" in whole:
            whole.fail("turn", "[turn] without [lines]: its keys name groups of the pattern", next_step="remove it")
        return None
    table = whole.table("lines")
    table.check_keys(table.keys)
    if "pattern" not in table:
        table.fail(None, "[lines] without a pattern", expected="pattern = '(?<who>[^:]+): (?<said>.*)'")
    groups = tuple(_groups_of(table, "pattern"))
    if not groups:
        table.wrong("pattern", "one with named groups, such as '(?<who>[^:]+): (?<said>.*)'")
    _check_columns(whole, groups, "the pattern in [lines] has no group {}", of_turns=not form.is_rows)
    if not form.is_rows:
        for key in (key for key in ("begins", "turns") if key in table):
            table.fail(key, f"{key!r} is for text files of format = 'turns'", next_step="remove it")
        if "text" not in whole.table("turn"):
            whole.fail("lines", "[lines] needs 'text' in [turn]", expected='[turn] text = "said"')
    if "begins" in table:
        _groups_of(table, "begins")
        if "id" in whole.table("dialogue"):
            table.fail(
                "begins", "dialogues are told apart twice: by [dialogue] id and by the lines with which they begin"
            )
    begins = table.text("begins") if "begins" in table else None
    if "skip" in table:
        _groups_of(table, "skip")
    skip = table.text("skip") if "skip" in table else None
    return Lines(table.text("pattern"), groups, begins, table.get("turns") or "first", skip)


def _groups_of(table: DeclarationTable, key: str) -> list[str]:
    try:
        return named_groups(table.text(key))
    except BadRegex as problem:
        table.fail(
            key,
            f"{key!r} in [lines] is no pattern: {problem}",
            found=f"{table.text(key):.100}",
            next_step="patterns are Rust's: https://docs.rs/regex/latest/regex/#syntax",
        )


def _check_columns(whole: DeclarationTable, columns: Sequence[str], problem: str, *, of_turns: bool = False) -> None:
    """Refuse a column that is none of these; those of files of labels are columns of theirs.

    ``of_turns``: only turns have such columns.
    """
    own = [table for table in whole.tables("annotations") if "from" not in table and not of_turns]
    for table in (*map(whole.table, ("turn",) if of_turns else ("dialogue", "turn", "speaker")), *own):
        known = known_tables()[str(table.path[0])].keys
        for key, value in table.values.items():
            if key != "columns" and not (key in known and known[key].type in ("path", "paths")):
                continue
            for column in value if isinstance(value, list) else [value]:
                if column not in columns and (key, column) != ("order", REVERSED):
                    table.fail(key, problem.format(shown(column)), expected=one_of(str(column), columns))


def separators_of(whole: DeclarationTable) -> tuple[str, ...]:
    """Return the separator of the turns of a transcript, in place of marks."""
    table = whole.table("dialogue")
    separators = table.words("separator")
    if separators and whole.table("markers").values:
        table.fail(
            "separator",
            "turns are told apart twice: by a separator and by [markers]",
            next_step="remove one of the two",
        )
    return separators


def markers_of(whole: DeclarationTable, form: Form) -> dict[str, str]:
    """Return the marks of a transcript with their roles."""
    table = whole.table("markers")
    markers = {mark: table.word(mark) or "" for mark in table.values}
    if "" in markers:
        table.fail("", "an empty marker would begin a turn everywhere", expected='a text such as "\\n\\nUser: "')
    if markers and "lines" in whole:
        whole.fail("markers", "turns are told apart twice: by [lines] and by [markers]", next_step="remove one")
    if form.needs_markers and not markers and "lines" not in whole and "separator" not in whole.table("dialogue"):
        whole.fail(
            "markers" if "markers" in whole else "format",
            "format = 'transcript' needs [markers], [lines] or [dialogue] separator: nobody knows where a turn begins",
            expected='[markers] and below it lines such as "\\n\\nUser: " = "user"',
        )
    return markers


def _is_sign(text: str) -> bool:
    return len(text) == 1 and text.isascii() and (text.isprintable() or text == "\t")


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
