"""The manifest of an exported file: what it holds, from which build, and under whose licence."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse.query.composition import Composition
from talkhouse.query.pseudonyms import AboutPseudonyms
from talkhouse.query.selection import Selection
from talkhouse.query.terms import Part, with_terms
from talkhouse.settings import version
from talkhouse.warehouse.fingerprint import splits
from talkhouse.warehouse.opened import Warehouse

ENDING = ".manifest.json"
"""What the name of a file's manifest has behind that of the file."""

OF_A_PACKAGE = "manifest.json"
"""The name of the manifest in a folder that is a package."""


@dataclass(frozen=True)
class Contents:
    """What is known of the rows of an export."""

    corpora: list[dict[str, Any]]
    """The corpora that they are of, as ``Warehouse.corpora`` has them."""
    parts: tuple[Part, ...]
    """The parts of these that they are of, with what their licences ask; none of samples."""
    composition: Composition
    """Of which releases, splits, subsets and languages they are."""
    rows: int
    pseudonyms: AboutPseudonyms | None = None
    """Of which key the pseudonyms are, and what still leads to people; None where ids are as published."""
    formulas_escaped: bool = False
    """Whether texts that a spreadsheet takes for formulas have an apostrophe before them, unlike as published."""


def path_for(output: Path) -> Path:
    """Return the path of a file's manifest."""
    return output.with_name(f"{output.name}{ENDING}")


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
        and selection.filters.release in (None, split.release)
    ]


def describe(warehouse: Warehouse, selection: Selection, contents: Contents, file_format: str, path: Path) -> str:
    """Return the description of a file as JSON; the same file of the same build has the same manifest."""
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    content = {
        **of_selection(warehouse, selection),
        "format": file_format,
        "rows": contents.rows,
        "composition": contents.composition,
        "pseudonyms": contents.pseudonyms,
        "formulas_escaped": contents.formulas_escaped,
        "bytes": path.stat().st_size,
        "sha256": sha256,
        **of_build(warehouse),
        "corpora": with_terms(contents.corpora, contents.parts),
    }
    return as_json(content)


def of_selection(warehouse: Warehouse, selection: Selection) -> dict[str, Any]:
    """Return what a manifest says of the rows that were selected: name, filters, order, columns, fingerprints."""
    return {
        "name": selection.full_name,
        "split": selection.split,
        "split_column": selection.split_column,
        "release": selection.filters.release,
        "subsets": selection.filters.subsets,
        "where": selection.filters.where,
        **({"overlap": selection.filters.left_out.about} if selection.filters.left_out else {}),
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


def as_json(content: Mapping[str, Any]) -> str:
    """Write a manifest."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
