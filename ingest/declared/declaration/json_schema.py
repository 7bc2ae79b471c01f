"""``corpus.toml`` as a JSON Schema, by which editors complete and check it: the tables, keys and types of ``keys``.

It says less than reading does, which also compares keys with one another; what it refuses, reading refuses. Taplo
promises Draft 4: there all holds but what belongs to a format, which is written in words of Draft 7.
"""

import json
from collections.abc import Mapping
from typing import Any, get_args

from talkhouse.ingest.contract.definition import ADDRESS, LANGUAGE
from talkhouse.ingest.declared.declaration.cells import LONGEST_REGEX
from talkhouse.ingest.declared.declaration.forms import fitting_keys
from talkhouse.ingest.declared.declaration.keys import Key, Table, head_keys, known_tables
from talkhouse.ingest.declared.declaration.label_tables import LONGEST_NAME
from talkhouse.ingest.declared.declaration.model import Format
from talkhouse.schema.contents import ID

_TEXT = {"type": "string"}
_WORD = {"type": "string", "minLength": 1}
_TYPES: Mapping[str, dict[str, Any]] = {
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


def json_schema() -> dict[str, Any]:
    """Return the schema; what a format does not take is refused where it is the format."""
    head = _table(known_tables()[""])
    tables = {name: _table(table) for name, table in known_tables().items() if name}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "corpus.toml",
        **head,
        "properties": {**head["properties"], **tables},
        "allOf": [_of_format(format_) for format_ in get_args(Format)],
    }


def schema_text() -> str:
    """Return the schema as a file has it."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _table(table: Table) -> dict[str, Any]:
    of_keys: dict[str, Any] = {"type": "object"}
    if table.any_key is not None:
        of_keys["additionalProperties"] = _key(table.any_key)
    else:
        of_keys["properties"] = {name: _key(key) for name, key in table.keys.items()}
        of_keys["additionalProperties"] = False
        of_keys["required"] = [name for name, key in table.keys.items() if key.is_required]
    return {"description": table.meaning, **({"type": "array", "items": of_keys} if table.is_list else of_keys)}


def _key(key: Key) -> dict[str, Any]:
    of_type = {"enum": list(key.words)} if key.type == "choice" else _TYPES[key.type]
    return {"description": key.meaning, **of_type}


def _of_format(format_: Format) -> dict[str, Any]:
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
