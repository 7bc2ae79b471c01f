"""The tables and keys of ``corpus.toml``, as ``keys.toml`` has them: types, meanings, and what holds without them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

import msgspec

from talkhouse.ingest.contract.definition import STANDARD_SPLITS
from talkhouse.ingest.declared.declaration.model import (
    Annotations,
    Context,
    DeclaredTask,
    DialogueFields,
    DrawnGrain,
    DrawnKind,
    Format,
    Lines,
)
from talkhouse.schema.toml_files import toml_of

Type: TypeAlias = Literal[
    "text",
    "word",
    "name",
    "list",
    "choice",
    "flag",
    "address",
    "languages",
    "pattern",
    "path",
    "paths",
    "sign",
    "time",
    "labels",
    "values",
    "winner",
    "texts",
    "regex",
    "count",
]
"""Of a value: any text; one that is not empty; a name in SQL; a list of texts; one of some words; true or false. The
others are texts with a form of their own, a table of labels with their meanings, one of values to compare with, a text
or a list of texts, a regular expression, and which answer is the best; a whole number, from 1."""


@dataclass(frozen=True)
class Key:
    """A key of a table."""

    type: Type
    meaning: str
    """A line of Markdown."""
    default: str = ""
    """What holds without it, in words; empty: nothing is said."""
    words: tuple[str, ...] = ()
    """Those of a choice."""
    is_required: bool = False
    only: Literal["", "documents", "rows"] = ""
    """Of labels: whether they lie inside JSON, or in columns."""


@dataclass(frozen=True)
class Table:
    """A table, or what stands above the first one."""

    meaning: str
    keys: Mapping[str, Key]
    is_list: bool = False
    """Whether there may be several: ``[[files]]``."""
    any_key: Key | None = None
    """What each key has, where the keys are words of the data."""


def _words(kind: type, name: str) -> tuple[str, ...]:
    return get_args(get_type_hints(kind)[name])


_WORDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "format"): get_args(Format),
    ("files", "holds"): ("dialogues", "annotations"),
    ("files", "repair"): ("latin1-utf8", "windows1252-utf8"),
    ("dialogue", "ids"): _words(DialogueFields, "ids"),
    ("speaker", "scope"): ("corpus", "dialogue"),
    ("splits", "*"): (*STANDARD_SPLITS, ""),
    ("lines", "turns"): _words(Lines, "turns"),
    ("annotations", "on"): _words(Annotations, "on"),
    ("annotations", "offsets"): _words(Annotations, "offsets"),
    ("charts", "kind"): get_args(DrawnKind),
    ("charts", "grain"): get_args(DrawnGrain),
    ("tasks", "kind"): _words(DeclaredTask, "kind"),
    ("tasks", "context"): get_args(Context),
}
"""The words of each choice, by its table and key."""


@cache
def known_tables() -> Mapping[str, Table]:
    """Return the tables by their names, in the order of the reference; the head has none."""
    named = {"" if name == "head" else name: table for name, table in toml_of(__file__, "keys").items()}
    return {name: _table(name, table) for name, table in named.items()}


def _table(name: str, written: Mapping[str, Any]) -> Table:
    keys = {
        key: msgspec.convert({**facts, "words": _WORDS.get((name, key), ())}, Key)
        for key, facts in written.items()
        if isinstance(facts, dict)
    }
    return Table(written["meaning"], keys, written.get("is_list", False), keys.pop("*", None))


@cache
def head_keys() -> tuple[str, ...]:
    """Return the keys above the first table."""
    return tuple(known_tables()[""].keys)
