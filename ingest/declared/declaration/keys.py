"""What ``corpus.toml`` may say: its tables and keys, which of them each format takes, and both as a JSON Schema.

``keys.toml`` and ``forms.toml`` have them. By the schema editors complete and check a declaration; it says less than
reading does, which also compares keys with one another. What it refuses, reading refuses. Taplo promises Draft 4: there
all holds but what belongs to a format, which is written in words of Draft 7.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

import msgspec

from talkhouse.ingest.contract.definition import ADDRESS, LANGUAGE, STANDARD_SPLITS
from talkhouse.ingest.declared.declaration import model
from talkhouse.schema.contents import ID
from talkhouse.schema.toml_files import toml_of

LONGEST_NAME = 40
"""Letters of the name of a scheme or task, which is part of names in databases."""

LONGEST_REGEX = 1_000
"""Letters of a regular expression."""


@dataclass(frozen=True)
class Key:
    """A key of a table."""

    type: str
    """One of ``_TYPE_SCHEMAS``, or a choice."""
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
    ("", "format"): get_args(model.Format),
    ("files", "holds"): ("dialogues", "annotations"),
    ("files", "repair"): ("latin1-utf8", "windows1252-utf8"),
    ("dialogue", "ids"): _words(model.DialogueFields, "ids"),
    ("speaker", "scope"): ("corpus", "dialogue"),
    ("splits", "*"): (*STANDARD_SPLITS, ""),
    ("lines", "turns"): _words(model.Lines, "turns"),
    ("annotations", "on"): _words(model.Annotations, "on"),
    ("annotations", "offsets"): _words(model.Annotations, "offsets"),
    ("charts", "kind"): get_args(model.DrawnKind),
    ("charts", "grain"): get_args(model.DrawnGrain),
    ("tasks", "kind"): _words(model.DeclaredTask, "kind"),
    ("tasks", "context"): get_args(model.Context),
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


@dataclass(frozen=True)
class Form:
    """What a declaration of one format may say."""

    fields: Mapping[str, tuple[str, ...]]
    """Table -> the keys that it may have: ``[dialogue]``, ``[turn]``, ``[pair]``, ``[preference]``."""
    tables: frozenset[str]
    """The other tables that mean something."""
    defaults: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Table -> key -> the path that it has where none is declared."""
    needs: tuple[tuple[str, str], ...] = ()
    """Tables and keys without which nothing can be read."""
    may_be_none: tuple[tuple[str, str], ...] = ()
    """Tables and keys whose default a record may lack, and ``""`` takes away."""
    needs_markers: bool = False
    """Whether nothing can be read without marks or a separator."""
    is_rows: bool = False
    """Whether paths are names of columns."""
    scope: Literal["corpus", "dialogue"] = "dialogue"
    """Where a speaker's name means somebody."""
    times: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    known_roles: frozenset[str] = frozenset()
    """The roles of a format that knows a list; others take any."""
    label_targets: tuple[str, ...] = ("turn", "dialogue", "record")
    """What labels may be about (``on``), the default first."""
    turns_are_objects: bool = True
    """Whether labels may stand in a turn."""


ALPACA = {"system": "system", "history": "history", "prompt": "instruction", "query": "input", "response": "output"}
"""The names of pairs that are not declared (Alpaca; with history and system, LLaMA-Factory)."""

PAIR_ROLES = {"system": "system", "prompt": "user", "query": "user", "response": "assistant"}
"""The roles of a pair's texts, in the order of their turns, unless ``[roles]`` says others."""

FORMS: Mapping[model.Format, Form] = msgspec.convert(toml_of(__file__, "forms"), dict[model.Format, Form])

FIELDS = {
    "dialogue": model.DialogueFields,
    "turn": model.TurnFields,
    "pair": model.PairFields,
    "preference": model.PreferenceFields,
}
OTHER_TABLES = ("speaker", "speakers", "roles", "times", "dialect", "lines", "markers", "winners")
"""Tables that name places in the data, each with what it becomes."""


def fitting_keys(name: str, format_: model.Format) -> list[str] | None:
    """Return the keys that a table may have in a format, or None if it has no meaning there."""
    form = FORMS[format_]
    if name in form.fields:
        return list(form.fields[name])
    if name in FIELDS or (name in OTHER_TABLES and name not in form.tables):
        return None
    here = "rows" if form.is_rows else "documents"
    return [key for key, known in known_tables()[name].keys.items() if known.only in ("", here)]


_TEXT = {"type": "string"}
_WORD = {"type": "string", "minLength": 1}
_TYPE_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "text": _TEXT,
    "word": _WORD,
    "name": {**_WORD, "maxLength": LONGEST_NAME, "pattern": f"^{ID.pattern}$"},
    "list": {"type": "array", "items": _TEXT},
    "flag": {"type": "boolean"},
    "address": {"anyOf": [{"enum": [""]}, {**_TEXT, "pattern": f"^{ADDRESS.pattern}$"}]},
    "languages": {"type": "array", "items": {**_TEXT, "pattern": f"^{LANGUAGE.pattern}$"}},
    "pattern": _WORD,
    "path": _TEXT,
    "paths": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
    "sign": {"type": "string", "maxLength": 1},
    "time": _WORD,
    "labels": {"anyOf": [{"enum": ["open"]}, {"type": "object", "additionalProperties": _TEXT}]},
    "values": {"type": "object", "additionalProperties": {"type": ["string", "boolean", "integer"]}},
    "winner": {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["all", "none"]}]},
    "texts": {"anyOf": [_WORD, {"type": "array", "items": _WORD, "minItems": 1}]},
    "count": {"type": "integer", "minimum": 1},
    "regex": {**_WORD, "maxLength": LONGEST_REGEX},
}
"""Of a value, by the type of its key. A word is a text that is not empty, a name one in SQL; the others are texts with
a form of their own, a table of labels with their meanings, one of values to compare with, which answer is the best."""


def json_schema() -> dict[str, Any]:
    """Return the schema; what a format does not take is refused where it is the format."""
    head = _table_schema(known_tables()[""])
    tables = {name: _table_schema(table) for name, table in known_tables().items() if name}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "corpus.toml",
        **head,
        "properties": {**head["properties"], **tables},
        "allOf": [_of_format(format_) for format_ in get_args(model.Format)],
    }


def schema_text() -> str:
    """Return the schema as a file has it."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _table_schema(table: Table) -> dict[str, Any]:
    of_keys: dict[str, Any] = {"type": "object"}
    if table.any_key is not None:
        of_keys["additionalProperties"] = _key_schema(table.any_key)
    else:
        of_keys["properties"] = {name: _key_schema(key) for name, key in table.keys.items()}
        of_keys["additionalProperties"] = False
        of_keys["required"] = [name for name, key in table.keys.items() if key.is_required]
    return {"description": table.meaning, **({"type": "array", "items": of_keys} if table.is_list else of_keys)}


def _key_schema(key: Key) -> dict[str, Any]:
    of_type = {"enum": list(key.words)} if key.type == "choice" else _TYPE_SCHEMAS[key.type]
    return {"description": key.meaning, **of_type}


def _of_format(format_: model.Format) -> dict[str, Any]:
    """Refuse the tables and keys that mean nothing in a format."""
    fitting = {name: fitting_keys(name, format_) for name in known_tables() if name}
    tables = {
        name: {"items": {"propertyNames": {"enum": keys}}}
        if known_tables()[name].is_list
        else {"propertyNames": {"enum": keys}}
        for name, keys in fitting.items()
        if keys is not None and set(keys) != known_tables()[name].keys.keys()
    }
    is_format = {"properties": {"format": {"const": format_}}, "required": ["format"]}
    words = [*head_keys(), *(name for name, keys in fitting.items() if keys is not None)]
    return {"if": is_format, "then": {"propertyNames": {"enum": words}, "properties": tables}}
