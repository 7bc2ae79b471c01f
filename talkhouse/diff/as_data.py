"""A difference as data for programs: the same two contents give the same bytes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from talkhouse.diff.compare import Change
from talkhouse.diff.found import Compared, Difference
from talkhouse.diff.states import Side
from talkhouse.diff.words import words

FORMAT = 1

_OF_TABLE = ("removed", "added", "changed", "moved", "renumbered")
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
                "corpus": one.corpus,
                "status": one.status,
                "reader": list(one.reader),
                "sources": {name: one.sources[name] for name in ("added", "removed", "changed")},
                "licence": list(one.licence),
            }
            for one in found.corpora
        ],
        "renumbered": [one._asdict() for one in found.renumbered],
        "tables": [_table(one) for one in found.tables],
        "tasks": [_task(one) for one in found.tasks],
        "changes": [_change(one) for one in first(found.changes, limit)],
    }


def first(changes: Iterable[Change], limit: int) -> Iterator[Change]:
    """Yield so many rows of each relation and change."""
    seen = Counter[tuple[str, str, str]]()
    for one in changes:
        seen[one.relation, one.corpus, one.change] += 1
        if seen[one.relation, one.corpus, one.change] <= limit:
            yield one


def _side(side: Side) -> dict[str, Any]:
    return {
        "content_id": side.state.content_id,
        "schema_revision": side.revision,
        "talkhouse_version": side.build.get("talkhouse_version"),
        "release": side.state.release,
    }


def _counts(one: Compared, changes: Iterable[str]) -> dict[str, Any]:
    return {
        "before": one.counts.before,
        "after": one.counts.after,
        **{name: one.counts.changes[name] for name in changes},
    }


def _cells(one: Compared) -> dict[str, Any]:
    labels = [{"before": old, "after": new, "rows": rows} for old, new, rows in one.counts.labels]
    return {"columns": dict(one.counts.columns), "labels": labels}


def _table(one: Compared) -> dict[str, Any]:
    return {"table": one.name, "corpus": one.corpus, **_counts(one, _OF_TABLE), **_cells(one)}


def _task(one: Compared) -> dict[str, Any]:
    name = {"task": one.name, "release": one.counts.release, "split": one.counts.split}
    return {**name, **_counts(one, _OF_TASK), **_cells(one), "verdict": one.verdict}


def _change(one: Change) -> dict[str, Any]:
    key = {"key": one.key} if one.key_before is None else {"key": one.key, "key_before": one.key_before}
    columns = [
        {
            "column": column,
            "before": old,
            "after": new,
            "words": words(old, new) if column in one.are_texts else None,
        }
        for column, old, new in one.cells
    ]
    return {"relation": one.relation, "change": one.change, **key, "columns": columns}
