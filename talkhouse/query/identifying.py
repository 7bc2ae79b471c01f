"""Which columns of tables and views lead to people, and in which way."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any

from talkhouse.query.selection import grain_of
from talkhouse.query.sources import key_of, owner
from talkhouse.schema.sql import literal
from talkhouse.warehouse.opened import Warehouse


class Kind(StrEnum):
    """What a column holds, and so what takes its place; the first four are what heads of views say."""

    PERSON = "person"
    """The id of a person, as the publisher writes it."""
    NAME = "name"
    """A name of a person."""
    ID = "id"
    """The id of something that leads to a person, as the publisher writes it."""
    LINK = "link"
    """A publisher's id or an address that leads to a person, and by which nothing is joined."""
    SPEAKER = "speaker"
    """A key of ``main.speakers``."""
    NATIVE = "native"
    """``main.speakers.native_id``."""
    DIALOGUE = "dialogue"
    RECORD = "record"
    FILE = "file"
    """The id of a file, which is its path."""
    PERSONA = "persona"
    EXTRA = "extra"
    """What only one corpus has, as JSON."""
    VERBATIM = "verbatim"
    """Pieces of published files, with whatever is in them."""


_NAMED = {
    **dict.fromkeys(("speaker_id", "main_speaker_id", "reply_to_speaker_id"), Kind.SPEAKER),
    **dict.fromkeys(("speaker_name", "reply_to_speaker_name"), Kind.NAME),
    **dict.fromkeys(("dialogue_id", "derived_from"), Kind.DIALOGUE),
    "annotator_id": Kind.PERSON,
    "record_id": Kind.RECORD,
    "source_file_id": Kind.FILE,
    "persona_id": Kind.PERSONA,
    **dict.fromkeys(("image_file", "call_id"), Kind.ID),
    **dict.fromkeys(("native_id", "source_pointer", "pointer", "image_url", "uri"), Kind.LINK),
    **dict.fromkeys(("detail", "raw"), Kind.VERBATIM),
    "extra": Kind.EXTRA,
}
"""Columns that mean the same wherever they are."""

_PLACE = dict.fromkeys(("path", "member", "sha256"), Kind.LINK)

_IN_TABLES = {
    **dict.fromkeys(("meta.source_files", "bi.source_files", "bi.provenance"), _PLACE),
    "main.speakers": {"native_id": Kind.NATIVE, "name": Kind.NAME},
    "main.images": {"image_id": Kind.ID, "url": Kind.LINK},
}
"""Columns that lead to people only there."""

IF_PUBLIC = (Kind.ID, Kind.LINK, Kind.DIALOGUE, Kind.RECORD, Kind.FILE, Kind.PERSONA)
"""What leads to people only in a corpus whose keys are public."""


def kinds_of(warehouse: Warehouse, relation: str, columns: Iterable[str]) -> dict[str, tuple[Kind, bool]]:
    """Return the columns of a view or table that may lead to people, and whether the head of the view says so.

    A link that is one of the columns which together name a row is an id, so that rows stay apart.
    """
    task = warehouse.split_views[relation].task if relation in warehouse.split_views else relation
    view = next((view for view in warehouse.catalogue.views if view.full_name == task), None)
    declared = {column: Kind(kind) for column, kind in view.identifying_columns.items()} if view else {}
    known = {**_NAMED, **_IN_TABLES.get(relation, {}), **declared}
    grain = grain_of(warehouse, relation)
    return {
        column: (Kind.ID if known[column] is Kind.LINK and column in grain else known[column], column in declared)
        for column in columns
        if column in known
    }


def owner_of(warehouse: Warehouse, relation: str, columns: Collection[str]) -> str | None:
    """Return SQL for the corpus of a row; a literal where all rows are of one; None where no column tells it."""
    schema = relation.partition(".")[0]
    if schema in warehouse.corpus_ids:
        return literal(schema)
    key = key_of(columns)
    return key and owner(key)


def without_members(extra: str, members: Iterable[str]) -> str:
    """Return SQL for a JSON object without members, such as ``carried.workers``; other objects stay as they are."""
    by_parent = defaultdict[str, list[str]](list)
    for member in members:
        parent, _, name = member.rpartition(".")
        by_parent[parent].append(name)
    for parent, names in by_parent.items():
        outer = [name for name in parent.split(".") if name]
        patch: dict[str, Any] = dict.fromkeys(names)
        for name in reversed(outer):
            patch = {name: patch}
        paths = (".".join(["$", *(f'"{name}"' for name in (*outer, name))]) for name in names)
        present = " or ".join(f"json_exists({extra}, {literal(path)})" for path in paths)
        patched = f"json_merge_patch({extra}, {literal(json.dumps(patch))})"
        extra = f"case when {present} then {patched} else {extra} end"
    return extra
