"""A difference in sentences, for a terminal or as one HTML page without network and script."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from talkhouse.diff.compare import CHANGES, SHOWN, Change, LabelChange
from talkhouse.diff.difference import Compared, CorpusChange, Difference
from talkhouse.system.atomic_output import atomic_file

Words = list[tuple[str, str]]
"""Runs of a text: ``=`` for those in both, ``-`` for those only in the first, ``+`` only in the second."""

_THINGS = {"main.dialogues": "dialogue", "main.records": "record", "main.turns": "turn", "main.personas": "persona"}
"""Tables whose rows are counted by name, in this order."""

_PIECE = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)
"""A run of letters and digits, a run of blanks, or a single other character."""

_MOST = 4_000_000
"""The product of the numbers of pieces up to which two texts are compared."""

_TEMPLATES = Path(__file__).with_name("templates")


def head(found: Difference) -> str:
    """Return the title: both sides of the comparison."""
    before, after = found.sides
    if before.of_release is not None:
        return f"{before.state.name}: the publisher's releases {before.of_release} and {after.of_release}"
    return f"{before.state.name} and {after.state.name}"


def schema_lines(found: Difference) -> list[str]:
    """Return the differences between the schemas, a line each."""
    lines = []
    for side, name in zip(found.sides, ("first", "second"), strict=True):
        if side.is_migrated:
            lines.append(f"the {name} has schema {side.revision}, and was compared as a copy that was migrated")
    if found.tables_added:
        lines.append(f"tables added: {', '.join(found.tables_added)}")
    if found.tables_removed:
        lines.append(f"tables removed: {', '.join(found.tables_removed)}")
    for table, columns in found.columns.items():
        for column, (old, new) in columns.items():
            what = "is new" if old is None else "is gone" if new is None else f"was {old} and is {new}"
            lines.append(f"the column {table}.{column} {what}")
    if found.views_changed:
        lines.append(f"views or macros with other SQL: {', '.join(found.views_changed)} (--same-views compares data)")
    return lines


def corpus_line(corpus: CorpusChange, found: Difference) -> str:
    """Return a line on the changes of the reader, the files and the rows of a corpus."""
    if corpus.status in ("added", "removed", "unchanged"):
        return corpus.status
    old, new = corpus.reader
    parts = [f"reader {new}" if old == new else f"reader {old}, now {new}"]
    if corpus.licence[0] != corpus.licence[1]:
        parts.append("another licence")
    parts += [
        f"{count:,} of {corpus.sources['all']:,} {_plural('file', corpus.sources['all'])} {change}"
        for change in ("removed", "added", "changed")
        if (count := corpus.sources[change])
    ]
    counts = {table.name: table.counts for table in found.tables if table.corpus == corpus.corpus}
    renumbered = {item.kind: item.rows for item in found.renumbered if item.corpus == corpus.corpus}
    for table, thing in _THINGS.items():
        if table in counts:
            parts += _counted(thing, {**counts[table].changes, "renumbered": renumbered.get(thing, 0)})
    if "main.annotations" in counts and (labels := counts["main.annotations"].columns.get("label")):
        parts.append(f"{labels:,} {_plural('label', labels)} changed")
    rest = [table.name.removeprefix("main.") for table in found.tables if _is_other(table, corpus.corpus)]
    if rest and len(parts) == 1:
        parts.append(f"other rows of {', '.join(rest)}")
    return ", ".join(parts)


def _is_other(compared: Compared, corpus: str) -> bool:
    return compared.corpus == corpus and not compared.is_still and compared.name not in _THINGS


def _counted(thing: str, changes: dict[str, int]) -> list[str]:
    counts = [(name, changes.get(name, 0)) for name in CHANGES]
    return [f"{count:,} {_plural(thing, count)} {name}" for name, count in counts if count]


def _plural(thing: str, count: int) -> str:
    return thing if count == 1 else f"{thing}s"


def verdict(compared: Compared) -> str:
    """Return the meaning of the changes of a task's split for results computed from it."""
    changes = compared.counts.changes
    if compared.verdict == "same":
        return "saved scores hold"
    if compared.verdict == "renumbered":
        new = f"{changes['added']:,} new" if changes["added"] else ""
        if not changes["renumbered"]:
            return f"{new}: the others are the same, so their predictions hold"
        if not changes["other_record"]:
            holds = "renumbered: predictions by record_id hold, by example_index do not"
        else:
            others = f"{changes['other_record']:,} examples have another record_id"
            holds = f"renumbered: {others}, so predictions by record_id or example_index do not hold"
        return f"{holds}; {new}" if new else holds
    parts = [
        f"{changes[name]:,} {word}"
        for name, word in _OF_EXAMPLES.items()
        if changes[name] and (name != "moved" or changes["moved"] > changes["moved_in"])
    ]
    number, _, word = parts[0].partition(" ")
    first = "" if word == _OF_EXAMPLES["moved_in"] else f" of {compared.counts.before:,} examples"
    return ", ".join([f"{number}{first} {word}", *parts[1:]])


_OF_EXAMPLES = {
    "changed": "changed",
    "moved": "moved",
    "removed": "gone",
    "moved_out": "moved to another split",
    "moved_in": "came from another split",
    "added": "new",
    "renumbered": "renumbered",
}


def name_of(item: Compared) -> str:
    """Return the name of a table with its corpus, or of a task with the publisher's release and the split."""
    if item.name.startswith(("main.", "meta.")):
        return f"{item.name} {item.corpus}"
    return " ".join([item.name, *(part for part in (item.counts.release, item.counts.split) if part is not None)])


def key_text(key: Mapping[str, object]) -> str:
    """Write a key without the parts that are null."""
    return ", ".join(f"{name} {value}" for name, value in key.items() if value is not None)


def other_parts(row: Change) -> str:
    """Write the parts of a row's key that differ."""
    before = row.key_before or {}
    return key_text({name: value for name, value in before.items() if value != row.key.get(name)})


def marked(row: Change, column: str, old: str | None, new: str | None) -> Words | None:
    """Return the words of two texts, or None if they are no texts, or have no word in common."""
    runs = words(old, new) if column in row.are_texts else None
    return runs if runs is not None and any(sign == "=" for sign, _ in runs) else None


def matrix(labels: Iterable[LabelChange]) -> tuple[list[str], list[tuple[str, list[int]]]]:
    """Return changes of labels as a matrix: the labels after, and each label before with its rows."""
    counted = {(_shown(change.before), _shown(change.after)): change.rows for change in labels}
    heads = sorted({new for _, new in counted})
    return heads, [(old, [counted.get((old, new), 0) for new in heads]) for old in sorted({old for old, _ in counted})]


def _shown(label: str | None) -> str:
    return "(none)" if label is None else label


def words(before: str | None, after: str | None) -> Words | None:
    """Return the runs of two texts; None if there is one text only, or if both are too long.

    What is in both is a longest common subsequence of their pieces. Joining ``=`` and ``-`` gives the first text,
    ``=`` and ``+`` the second.
    """
    if before is None or after is None:
        return None
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    if len(old) * len(new) > _MOST:
        return None
    begin = _common(old, new)
    end = _common(old[begin:][::-1], new[begin:][::-1])
    steps = [("=", piece) for piece in old[:begin]]
    steps += _steps(old[begin : len(old) - end], new[begin : len(new) - end])
    steps += [("=", piece) for piece in old[len(old) - end :]]
    return _runs(steps)


def _common(old: list[str], new: list[str]) -> int:
    """Count the pieces with which both begin."""
    for index, (first, second) in enumerate(zip(old, new, strict=False)):
        if first != second:
            return index
    return min(len(old), len(new))


def _steps(old: list[str], new: list[str]) -> Words:
    """Return the pieces of both in order, by Hyyrö's bit-parallel longest common subsequence.

    A row of the table of lengths is one number: bit i is 0 where the length grows at piece i of ``old``.
    """
    places: dict[str, int] = {}
    for index, piece in enumerate(old):
        places[piece] = places.get(piece, 0) | 1 << index
    full = (1 << len(old)) - 1
    row, rows = full, []
    for piece in new:
        met = row & places.get(piece, 0)
        row = ((row + met) | (row - met)) & full
        rows.append(row)
    steps: Words = []
    at, other = len(old), len(new)
    while at and other:
        if rows[other - 1] >> (at - 1) & 1:
            at -= 1
            steps.append(("-", old[at]))
        elif other > 1 and not rows[other - 2] >> (at - 1) & 1:
            other -= 1
            steps.append(("+", new[other]))
        else:
            at, other = at - 1, other - 1
            steps.append(("=", old[at]))
    steps += [("+", piece) for piece in new[:other][::-1]]
    steps += [("-", piece) for piece in old[:at][::-1]]
    return steps[::-1]


def _runs(steps: Words) -> Words:
    """Join neighbours of one sign; between two pieces that are in both, deletions come before insertions."""
    runs = []
    for is_kept, group in groupby(steps, key=lambda step: step[0] == "="):
        stretch = list(group)
        for sign in "=" if is_kept else "-+":
            if text := "".join(piece for its, piece in stretch if its == sign):
                runs.append((sign, text))
    return runs


@dataclass(frozen=True)
class _PageRows:
    """The rows of a relation that differ in one way."""

    name: str
    change: str
    rows: Sequence[Change]


@dataclass(frozen=True)
class _Part:
    """A relation with rows."""

    name: str
    kinds: Sequence[_PageRows]
    left_out: int
    """Rows that are not on the page."""


def write_page(found: Difference, output: Path, most: int) -> None:
    """Write the page, whole or not at all; ``most`` is the maximum number of rows of a table or task."""
    with atomic_file(output) as part:
        part.write_text(_render(found, most), encoding="utf-8", newline="\n")


def _render(found: Difference, most: int) -> str:
    from talkhouse.html_pages import environment, own_parts

    moving = [table for table in found.tables if not table.is_still]
    tasks = [task for task in found.tasks if not task.is_still]
    return (
        environment(_TEMPLATES)
        .get_template("diff.html")
        .render(
            **own_parts(_TEMPLATES, ("diff.css",)),
            title=head(found),
            found=found,
            schema=schema_lines(found),
            corpora=[(corpus.corpus, corpus_line(corpus, found)) for corpus in found.corpora],
            tables=moving,
            tasks=tasks,
            still=[name_of(task) for task in found.tasks if task.is_still],
            counted=CHANGES,
            labels=[(name_of(item), *matrix(item.counts.labels)) for item in (*moving, *tasks) if item.counts.labels],
            parts=_parts(found, most),
            verdict=verdict,
            name_of=name_of,
            key_text=key_text,
            other_parts=other_parts,
            marked=marked,
        )
    )


def _parts(found: Difference, most: int) -> list[_Part]:
    """Return the rows of each relation, at most so many."""
    parts = []
    for name, rows in groupby(found.changes, key=lambda row: (row.relation, row.corpus)):
        of_relation = list(rows)
        kinds = [
            _PageRows(change, change, list(some))
            for change, some in groupby(of_relation[:most], key=lambda row: row.change)
        ]
        counted = [table.counts for table in (*found.tables, *found.tasks) if (table.name, table.corpus) == name]
        total = sum(counts.changes[change] for counts in counted for change in SHOWN)
        shown = sum(len(kind.rows) for kind in kinds)
        title = f"{name[0]} of {name[1]}" if name[0].startswith(("main.", "meta.")) else name[0]
        parts.append(_Part(title, kinds, total - shown))
    return parts
