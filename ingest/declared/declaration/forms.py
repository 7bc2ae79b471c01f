"""The formats of a declaration: which tables and keys each takes, and what holds without them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from talkhouse.ingest.declared.declaration.keys import known_tables
from talkhouse.ingest.declared.declaration.model import DialogueFields, Format, PairFields, PreferenceFields, TurnFields
from talkhouse.ingest.declared.declaration.table import DeclarationTable
from talkhouse.schema.toml_files import toml_of


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
    has_label_files: bool = False
    """Whether labels may lie in files of their own (``from``)."""


ALPACA = {"system": "system", "history": "history", "prompt": "instruction", "query": "input", "response": "output"}
"""The names of pairs that are not declared (Alpaca; with history and system, LLaMA-Factory)."""

PAIR_ROLES = {"system": "system", "prompt": "user", "query": "user", "response": "assistant"}
"""The roles of a pair's texts, in the order of their turns, unless ``[roles]`` says others."""

FORMS: Mapping[Format, Form] = msgspec.convert(toml_of(__file__, "forms"), dict[Format, Form])

FIELDS = {"dialogue": DialogueFields, "turn": TurnFields, "pair": PairFields, "preference": PreferenceFields}
_OTHERS = ("speaker", "speakers", "roles", "times", "dialect", "lines", "markers", "winners")
"""Tables that name places in the data, each with what it becomes."""


def fitting_keys(name: str, format_: Format) -> list[str] | None:
    """Return the keys that a table may have in a format, or None if it has no meaning there."""
    form = FORMS[format_]
    if name in form.fields:
        return list(form.fields[name])
    if name in FIELDS or (name in _OTHERS and name not in form.tables):
        return None
    here = "rows" if form.is_rows else "documents"
    return [key for key, known in known_tables()[name].keys.items() if known.only in ("", here)]


def check_tables(whole: DeclarationTable, format_: Format) -> None:
    """Refuse a table that means nothing in a format."""
    for name in (*FIELDS, *_OTHERS):
        if name in whole and fitting_keys(name, format_) is None:
            fitting = [other for other in FORMS if fitting_keys(name, other) is not None]
            whole.fail(
                name,
                f"[{name}] means nothing in format = {format_!r}",
                expected=f"it is for {', '.join(fitting)}",
                next_step="remove the table, or check the format",
            )
