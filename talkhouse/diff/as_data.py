"""A difference as data for programs: the same two contents give the same bytes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from talkhouse.diff.compare import CHANGES, Change
from talkhouse.diff.difference import Compared, Difference
from talkhouse.diff.sentences import words
from talkhouse.diff.states import Side

FORMAT = 1

_OF_TASK = ("removed", "added", "changed", "moved", "moved_in", "moved_out", "renumbered")


def as_data(found: Difference, limit: int) -> dict[str, Any]:
    """Return a difference with no time, path or host in it; of each relation and change so many rows."""
    before, after = found.sides
    between = {} if before.of_release is None else {"between": [before.of_release, after.of_release]}
    return {
        "format": FORMAT,
        "equal": found.is_equal,
        "before": _side(before),
        "after": _side(after),
        **between,
        "schema": {
            "migrated": "before" if before.is_migrated else "after" if after.is_migrated else None,
            "tables_added": found.tables_added,
            "tables_removed": found.tables_removed,
            "columns": {
                table: {name: list(kinds) for name, kinds in columns.items()}
                for table, columns in found.columns.items()
            },
            "views_changed": found.views_changed,
        },
        "corpora": [
            {
                "corpus": corpus.corpus,
                "status": corpus.status,
                "reader": list(corpus.reader),
                "sources": {name: corpus.sources[name] for name in ("added", "removed", "changed")},
                "licence": list(corpus.licence),
            }
            for corpus in found.corpora
        ],
        "renumbered": [item._asdict() for item in found.renumbered],
        "tables": [_table(table) for table in found.tables],
        "tasks": [_task(task) for task in found.tasks],
        "changes": [_change(change) for change in first(found.changes, limit)],
    }


def first(changes: Iterable[Change], limit: int) -> Iterator[Change]:
    """Yield so many rows of each relation and change."""
    seen = Counter[tuple[str, str, str]]()
    for change in changes:
        seen[change.relation, change.corpus, change.change] += 1
        if seen[change.relation, change.corpus, change.change] <= limit:
            yield change


def _side(side: Side) -> dict[str, Any]:
    return {
        "content_id": side.state.content_id,
        "schema_revision": side.revision,
        "talkhouse_version": side.build.get("talkhouse_version"),
        "release": side.state.release,
    }


def _counts(compared: Compared, changes: Iterable[str]) -> dict[str, Any]:
    return {
        "before": compared.counts.before,
        "after": compared.counts.after,
        **{name: compared.counts.changes[name] for name in changes},
    }


def _cells(compared: Compared) -> dict[str, Any]:
    labels = [change._asdict() for change in compared.counts.labels]
    return {"columns": dict(compared.counts.columns), "labels": labels}


def _table(compared: Compared) -> dict[str, Any]:
    return {"table": compared.name, "corpus": compared.corpus, **_counts(compared, CHANGES), **_cells(compared)}


def _task(compared: Compared) -> dict[str, Any]:
    name = {"task": compared.name, "release": compared.counts.release, "split": compared.counts.split}
    return {**name, **_counts(compared, _OF_TASK), **_cells(compared), "verdict": compared.verdict}


def _change(change: Change) -> dict[str, Any]:
    key = {"key": change.key} if change.key_before is None else {"key": change.key, "key_before": change.key_before}
    columns = [
        cell._asdict() | {"words": words(cell.before, cell.after) if cell.column in change.are_texts else None}
        for cell in change.cells
    ]
    return {"relation": change.relation, "change": change.change, **key, "columns": columns}
