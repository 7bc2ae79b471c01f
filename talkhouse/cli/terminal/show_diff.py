"""A difference on the terminal: a line for each corpus, the counts of tables and tasks, and rows with their words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from talkhouse.cli.terminal.console import escape, output, print_table, styled
from talkhouse.diff import sentences
from talkhouse.diff.as_data import first
from talkhouse.diff.compare import CHANGES
from talkhouse.diff.relations import IDS
from talkhouse.escaping import visible

if TYPE_CHECKING:
    from rich.text import Text

    from talkhouse.diff.compare import Change
    from talkhouse.diff.difference import Compared, Difference

_LONGEST = 400
"""Characters of a value that are shown."""

_LINE = 100
"""Characters of a value of a row that was added or removed."""


def show(found: "Difference", limit: int) -> None:
    """Print what differs; of each table or task, and each change, so many rows."""
    _line(sentences.head(found), "bold")
    for line in sentences.schema_lines(found):
        _line(line)
    for corpus in found.corpora:
        output.print(
            f"[bold]{escape(visible(corpus.corpus))}[/]  {escape(visible(sentences.corpus_line(corpus, found)))}"
        )
    if found.is_equal:
        _line("All rows of corpora are the same: saved scores hold.")
    _show_counts("table", [table for table in found.tables if not table.is_still])
    _show_counts("task", [task for task in found.tasks if not task.is_still])
    for task in found.tasks:
        if not task.is_still:
            output.print(f"[bold]{escape(visible(sentences.name_of(task)))}[/]: {escape(sentences.verdict(task))}")
    if not found.is_equal and (still := [sentences.name_of(task) for task in found.tasks if task.is_still]):
        _line(f"Saved scores hold: {'; '.join(still)}")
    _show_rows(found, limit)


def _line(text: str, style: str = "") -> None:
    output.print(styled(visible(text), style))


def _show_counts(what: str, rows: "Sequence[Compared]") -> None:
    """Print the numbers of what differs, and below them the labels that changed."""
    if not rows:
        return
    names = [sentences.name_of(row) for row in rows]
    heads = [what, "before", "after", *CHANGES, *(("in", "out") if what == "task" else ()), "columns"]
    print_table(heads, [_cells(name, row, what) for name, row in zip(names, rows, strict=True)], right=heads[1:-1])
    for name, row in zip(names, rows, strict=True):
        if row.counts.labels:
            labels, lines = sentences.matrix(row.counts.labels)
            columns = [visible(label) for label in labels]
            _line(f"Labels of {name}: before down, after across", "bold")
            cells = [[visible(old), *(f"{count:,}" if count else "" for count in counts)] for old, counts in lines]
            print_table(["", *columns], cells, right=columns)


def _cells(name: str, row: "Compared", what: str) -> list[str]:
    counts = row.counts
    moved = ("moved_in", "moved_out") if what == "task" else ()
    numbers = [counts.before, counts.after, *(counts.changes[change] for change in (*CHANGES, *moved))]
    columns = ", ".join(f"{column} {rows:,}" for column, rows in counts.columns.items())
    return [visible(name), *(f"{number:,}" if number else "" for number in numbers), visible(columns)]


def _show_rows(found: "Difference", limit: int) -> None:
    """Print rows by relation and change, and how many more there are."""
    totals = Counter[tuple[str, str, str]]()
    for table in (*found.tables, *found.tasks):
        for change in CHANGES:
            totals[table.name, table.corpus, change] += table.counts.changes[change]
    for (name, corpus, change), rows in groupby(
        first(found.changes, limit), key=lambda row: (row.relation, row.corpus, row.change)
    ):
        of_table = f" of {corpus}" if name.startswith(("main.", "meta.")) else ""
        output.print()
        _line(f"{name}{of_table}, {change}:", "bold")
        shown = list(rows)
        for row in shown:
            for text in _row(row):
                output.print(text)
        if more := totals[name, corpus, change] - len(shown):
            _line(f"  ... and {more:,} more: --limit, --output")


def _row(row: "Change") -> "Iterator[Text]":
    """Yield the lines of a row: its key, and each value that differs; of a whole row, what it says."""
    was = f" (was {visible(sentences.other_parts(row))})" if row.key_before else ""
    yield styled(f"  {visible(sentences.key_text(row.key))}").append(was, "dim")
    for column, old, new in row.cells:
        line = styled(f"    {visible(column)}: ", "dim")
        if row.change in ("added", "removed"):
            if column not in IDS and column != "corpus_id":
                yield line.append(_cut(new if old is None else old, _LINE))
        elif (runs := sentences.marked(row, column, old, new)) is not None:
            yield _marked(line, runs)
        else:
            yield line.append(f"{'(null)' if old is None else _cut(old)} -> {'(null)' if new is None else _cut(new)}")


def _cut(text: str | None, longest: int = _LONGEST) -> str:
    return visible("" if text is None else text if len(text) <= longest else f"{text[:longest]}...")


def _marked(line: "Text", runs: "Sequence[tuple[str, str]]") -> "Text":
    """Append the words of both texts: ``[-gone-]`` and ``[+new+]``; of long runs that are in both, the ends."""
    for sign, text in runs:
        if sign == "=":
            is_long = len(text) > _LONGEST
            half = _LONGEST // 2
            line.append(visible(f"{text[:half]} ... {text[-half:]}" if is_long else text))
        else:
            line.append(f"[{sign}{_cut(text)}{sign}]", "green" if sign == "+" else "red")
    return line
