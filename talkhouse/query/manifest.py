"""The manifest of an exported file: what it holds, from which build, and under whose licence."""

import hashlib
import json
from pathlib import Path
from typing import Any

from talkhouse.query.pseudonyms import AboutPseudonyms
from talkhouse.query.selection import Selection
from talkhouse.schema.sql import literal, quoted
from talkhouse.settings import version
from talkhouse.warehouse.fingerprint import splits
from talkhouse.warehouse.opened import Warehouse

_KEYS = ("corpus_id", "record_id", "dialogue_id", "scheme", "persona_id", "text_id", "speaker_id")
"""Columns that name the corpus of a row, the surest first; all but the first are keys that begin with its id."""


def path_for(output: Path) -> Path:
    """Return the path of a file's manifest."""
    return output.with_name(f"{output.name}.manifest.json")


def corpora(warehouse: Warehouse, selection: Selection) -> list[dict[str, Any]]:
    """Return the corpora whose rows are selected; all in the warehouse where no column names them."""
    own = [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == selection.schema]
    key = next((column for column in _KEYS if column in selection.known), None)
    if own or key is None:
        return own or warehouse.corpora
    owner = f"regexp_extract({quoted(key)}, {literal('^[a-z][a-z0-9_]*')})"
    named = warehouse.con.execute(f"select distinct {owner} from ({selection.sql([key])})").fetchall()
    return [corpus for corpus in warehouse.corpora if (corpus["corpus_id"],) in named]


def _fingerprints(warehouse: Warehouse, selection: Selection) -> list[dict[str, Any]]:
    """Return the fingerprints of the splits of a task's view, or of its view of one split; none for other views."""
    view = warehouse.split_views.get(selection.full_name)
    task = view.task if view else selection.full_name
    if task not in {example.full_name for example in warehouse.catalogue.examples}:
        return []
    corpus_id, _, name = task.partition(".")
    return [
        {"release": split.release, "split": split.split, "view_fingerprint": split.fingerprint}
        for split in splits(warehouse.con, corpus_id, name)
        if (view is None or view.split == split.split)
        and (selection.split_column != "split" or selection.split == split.split)
    ]


def describe(
    warehouse: Warehouse,
    selection: Selection,
    sources: list[dict[str, Any]],
    file_format: str,
    path: Path,
    rows: int,
    pseudonyms: AboutPseudonyms | None = None,
) -> str:
    """Return the description of a file as JSON; the same file of the same build has the same manifest.

    ``pseudonyms``: None where ids of people are as published.
    """
    made_by = dict(warehouse.build)
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    content = {
        "name": selection.full_name,
        "split": selection.split,
        "split_column": selection.split_column,
        "limit": selection.limit,
        "order": selection.order or [column["name"] for column in selection.columns],
        "columns": selection.columns,
        "format": file_format,
        "rows": rows,
        "pseudonyms": pseudonyms,
        "view_fingerprints": _fingerprints(warehouse, selection),
        "bytes": path.stat().st_size,
        "sha256": sha256,
        "schema_revision": made_by.pop("schema_revision"),
        "talkhouse_version": version(),
        "build": made_by,
        "corpora": sources,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
