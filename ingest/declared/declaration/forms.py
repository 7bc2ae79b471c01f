"""The formats of a declaration: which tables and keys each takes, and what holds without them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from talkhouse.ingest.declared.declaration.answers import OF_ANSWERS
from talkhouse.ingest.declared.declaration.keys import known_tables
from talkhouse.ingest.declared.declaration.model import DialogueFields, Format, PairFields, PreferenceFields, TurnFields
from talkhouse.ingest.declared.declaration.table import DeclarationTable


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
    label_targets: tuple[str, ...] = ("turn", "dialogue", "record")
    """What labels may be about (``on``), the default first."""
    turns_are_objects: bool = True
    """Whether labels may stand in a turn."""
    has_label_files: bool = False
    """Whether labels may lie in files of their own (``from``)."""


_OF_DIALOGUE = ("id", "ids", "title", "split", "domain", "language", "started_at")
_OF_TURN = ("id", "text", "role", "speaker", "said_at", "reply_to", "kind", "start_ms", "end_ms")
_IN_ORDER = (*_OF_TURN, "order")
_PEOPLE = frozenset({"speaker", "speakers", "roles", "times", "dialect"})

_OF_LISTS = ("turn", "dialogue", "response", "record")
"""What labels of a list of messages may be about; the response is the assistant's last message."""

LIST_OF_TURNS: Mapping[str, tuple[str, ...]] = {
    "dialogue": (*_OF_DIALOGUE, "system", "turns", "record"),
    "turn": _IN_ORDER,
}

ALPACA = {"system": "system", "history": "history", "prompt": "instruction", "query": "input", "response": "output"}
"""The names of pairs that are not declared (Alpaca; with history and system, LLaMA-Factory)."""

PAIR_ROLES = {"system": "system", "prompt": "user", "query": "user", "response": "assistant"}
"""The roles of a pair's texts, in the order of their turns, unless ``[roles]`` says others."""

FORMS: Mapping[Format, Form] = {
    "chat": Form(
        fields=LIST_OF_TURNS,
        label_targets=_OF_LISTS,
        tables=_PEOPLE,
        defaults={
            "dialogue": {"turns": "messages"},
            "turn": {"role": "role", "text": "content", "speaker": "name"},
        },
    ),
    "sharegpt": Form(
        fields=LIST_OF_TURNS,
        label_targets=_OF_LISTS,
        tables=_PEOPLE,
        defaults={
            "dialogue": {"id": "id", "system": "system", "turns": "conversations"},
            "turn": {"role": "from", "text": "value"},
        },
        may_be_none=(("dialogue", "id"), ("dialogue", "system")),
        roles={
            "human": "user",
            **dict.fromkeys(("gpt", "chatgpt", "bing", "bard", "function_call"), "assistant"),
            "observation": "tool",
        },
    ),
    "pairs": Form(
        fields={
            "dialogue": (*_OF_DIALOGUE, "record"),
            "pair": ("system", "history", "prompt", "query", "response", "each", "zip"),
        },
        tables=frozenset({"roles", "times", "dialect"}),
        needs=(("pair", "prompt"), ("pair", "response")),
        label_targets=("response", "turn", "dialogue", "record"),
        turns_are_objects=False,
    ),
    "preference": Form(
        fields={
            "dialogue": (*_OF_DIALOGUE, "record"),
            "preference": ("prompt", "chosen", "rejected", *OF_ANSWERS),
            "turn": ("role", "text"),
        },
        tables=frozenset({"roles", "times", "dialect", "markers", "winners"}),
        defaults={
            "preference": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
            "turn": {"role": "role", "text": "content"},
        },
        label_targets=("response", "turn", "dialogue", "record"),
        turns_are_objects=False,
    ),
    "transcript": Form(
        fields={
            "dialogue": (*_OF_DIALOGUE, "text", "separator", "record"),
            "turn": ("text", "role", "speaker", "said_at"),
        },
        tables=_PEOPLE | {"lines", "markers"},
        defaults={"dialogue": {"text": "text"}},
        needs_markers=True,
        label_targets=("dialogue", "turn", "record"),
        turns_are_objects=False,
    ),
    "tree": Form(
        fields={"dialogue": (*_OF_DIALOGUE, "turns", "record"), "turn": (*_OF_TURN[:7], "replies")},
        tables=_PEOPLE,
        defaults={
            "dialogue": {"turns": "prompt"},
            "turn": {"id": "message_id", "text": "text", "role": "role", "replies": "replies"},
        },
        scope="corpus",
    ),
    "dialogue": Form(
        fields=LIST_OF_TURNS,
        label_targets=_OF_LISTS,
        tables=_PEOPLE,
        needs=(("dialogue", "turns"), ("turn", "text")),
        scope="corpus",
    ),
    "turns": Form(
        fields={"dialogue": (*_OF_DIALOGUE, "folder"), "turn": _IN_ORDER},
        tables=_PEOPLE | {"lines"},
        needs=(("turn", "text"),),
        is_rows=True,
        scope="corpus",
        label_targets=("turn", "dialogue"),
        has_label_files=True,
    ),
    "convokit": Form(
        fields={"dialogue": tuple(key for key in _OF_DIALOGUE if key != "ids"), "turn": _IN_ORDER},
        tables=_PEOPLE - {"dialect", "speakers"},
        defaults={
            "dialogue": {"id": "conversation_id"},
            "turn": {"id": "id", "text": "text", "speaker": "speaker", "said_at": "timestamp", "reply_to": "reply-to"},
        },
        scope="corpus",
        times={"said_at": "unix"},
    ),
}


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
