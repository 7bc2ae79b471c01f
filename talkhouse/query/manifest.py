"""The manifest of an exported file: what it holds, from which build, and under whose licence."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from talkhouse.query.selection import Selection
from talkhouse.query.terms import Part
from talkhouse.schema.sql import literal, quoted
from talkhouse.settings import version
from talkhouse.warehouse.fingerprint import splits
from talkhouse.warehouse.opened import Warehouse

_KEYS = ("corpus_id", "record_id", "dialogue_id", "scheme", "persona_id", "text_id", "speaker_id")
"""Columns that name the corpus of a row, the surest first; all but the first are keys that begin with its id."""


ENDING = ".manifest.json"
"""What the name of a file's manifest has behind that of the file."""

OF_A_PACKAGE = "manifest.json"
"""The name of the manifest in a folder that is a package."""


def path_for(output: Path) -> Path:
    """Return the path of a file's manifest."""
    return output.with_name(f"{output.name}{ENDING}")


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
    parts: Sequence[Part] = (),
) -> str:
    """Return the description of a file as JSON; the same file of the same build has the same manifest.

    ``sources``: the corpora of its rows; ``parts``: the terms that apply to them.
    """
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    content = {
        **of_selection(warehouse, selection),
        "format": file_format,
        "rows": rows,
        "bytes": path.stat().st_size,
        "sha256": sha256,
        **of_build(warehouse),
        "corpora": of_corpora(sources, parts),
    }
    return as_json(content)


def of_selection(warehouse: Warehouse, selection: Selection) -> dict[str, Any]:
    """Return what a manifest says of the rows that were selected: name, filters, order, columns, fingerprints."""
    return {
        "name": selection.full_name,
        "split": selection.split,
        "split_column": selection.split_column,
        "filters": asdict(selection.filters),
        "limit": selection.limit,
        "order": selection.order or [column["name"] for column in selection.columns],
        "columns": selection.columns,
        "view_fingerprints": _fingerprints(warehouse, selection),
    }


def of_build(warehouse: Warehouse) -> dict[str, Any]:
    """Return what a manifest says of the build and of this Talkhouse."""
    made_by = dict(warehouse.build)
    revision = made_by.pop("schema_revision")
    return {"schema_revision": revision, "talkhouse_version": version(), "build": made_by}


def of_corpora(sources: Iterable[Mapping[str, Any]], parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return what a manifest says of the corpora: titles, licences, citations, and the terms of their parts."""
    terms = defaultdict[str, list[dict[str, Any]]](list)
    for part in parts:
        of_part = asdict(part)
        terms[of_part.pop("corpus_id")].append(of_part)
    return [{**corpus, "licence_terms": terms[corpus["corpus_id"]]} for corpus in sources]


def as_json(content: Mapping[str, Any]) -> str:
    """Write a manifest."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
