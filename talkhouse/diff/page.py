"""A difference as one self-contained HTML page: no network, no script."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from talkhouse.diff.compare import CHANGES, SHOWN, Change
from talkhouse.diff.difference import Difference
from talkhouse.diff.sentences import (
    corpus_line,
    head,
    key_text,
    marked,
    matrix,
    name_of,
    other_parts,
    schema_lines,
    verdict,
)
from talkhouse.html_pages import environment, own_parts
from talkhouse.system.atomic_output import atomic_file

_TEMPLATES = Path(__file__).with_name("templates")


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
