"""How cells, lines and turns are told apart: ``[dialect]``, ``[lines]``, ``[markers]`` and separators."""

from collections import Counter
from collections.abc import Sequence

from talkhouse.ingest.declared.declaration.forms import Form
from talkhouse.ingest.declared.declaration.keys import TABLES
from talkhouse.ingest.declared.declaration.line_patterns import BadRegex, named_groups
from talkhouse.ingest.declared.declaration.model import REVERSED, Dialect, Lines
from talkhouse.ingest.declared.declaration.table import DeclarationTable, one_of, shown


def dialect_of(whole: DeclarationTable) -> Dialect:
    """Return how cells are told apart."""
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
        table.fail("names", "'names' beside a header, which has the names", expected="header = false, or no 'names'")
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


def text_lines_of(whole: DeclarationTable) -> Lines | None:
    """Return how lines of text files are rows, if that is declared."""
    if "lines" not in whole:
        return None
    table = whole.table("lines")
    table.check_keys(table.keys)
    if "pattern" not in table:
        table.fail(None, "[lines] without a pattern", expected="pattern = '(?<who>[^:]+): (?<said>.*)'")
    groups = tuple(_groups_of(table, "pattern"))
    if not groups:
        table.wrong("pattern", "one with named groups, such as '(?<who>[^:]+): (?<said>.*)'")
    _check_columns(whole, groups, "the pattern in [lines] has no group {}")
    if "begins" in table:
        _groups_of(table, "begins")
        if "id" in whole.table("dialogue"):
            table.fail(
                "begins", "dialogues are told apart twice: by [dialogue] id and by the lines with which they begin"
            )
    begins = table.text("begins") if "begins" in table else None
    return Lines(table.text("pattern"), groups, begins, table.get("turns") or "first")


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


def _check_columns(whole: DeclarationTable, columns: Sequence[str], problem: str) -> None:
    """Refuse a column that is none of these; those of files of labels are columns of theirs."""
    own = [table for table in whole.tables("annotations") if "from" not in table]
    for table in (*map(whole.table, ("dialogue", "turn", "speaker")), *own):
        known = TABLES[str(table.path[0])].keys
        for key, value in table.values.items():
            if key != "columns" and not (key in known and known[key].type in ("path", "paths")):
                continue
            for column in value if isinstance(value, list) else [value]:
                if column not in columns and (key, column) != ("order", REVERSED):
                    table.fail(key, problem.format(shown(column)), expected=one_of(str(column), columns))


def separators_of(whole: DeclarationTable) -> tuple[str, ...]:
    """Return what stands between the turns of a transcript, in place of marks."""
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
    if form.needs_markers and not markers and "separator" not in whole.table("dialogue"):
        whole.fail(
            "markers" if "markers" in whole else "format",
            "format = 'transcript' needs [markers] or [dialogue] separator: nobody knows where a turn begins",
            expected='[markers] and below it lines such as "\\n\\nUser: " = "user"',
        )
    return markers


def _is_sign(text: str) -> bool:
    return len(text) == 1 and text.isascii() and (text.isprintable() or text == "\t")
