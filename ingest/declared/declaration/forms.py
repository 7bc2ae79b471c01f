"""The formats: which keys of ``corpus.toml`` each takes, which it needs, and what they are without being declared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from talkhouse.ingest.declared.declaration.model import Format


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


_OF_DIALOGUE = ("id", "title", "split", "domain", "language", "started_at")
_OF_TURN = ("id", "text", "role", "speaker", "said_at", "reply_to", "kind", "start_ms", "end_ms")
_PEOPLE = frozenset({"speaker", "roles", "times", "dialect"})

_LIST_OF_TURNS: Mapping[str, tuple[str, ...]] = {
    "dialogue": (*_OF_DIALOGUE, "system", "turns", "record"),
    "turn": _OF_TURN,
}

HEAD = (
    *("title", "description", "homepage", "licence", "licence_url", "terms", "version", "citation", "languages"),
    "format",
)
"""What stands above the first table."""

ALPACA = {"system": "system", "history": "history", "prompt": "instruction", "query": "input", "response": "output"}
"""The names of pairs that are not declared (Alpaca; with history and system, LLaMA-Factory)."""

FORMS: Mapping[Format, Form] = {
    "chat": Form(
        fields=_LIST_OF_TURNS,
        tables=_PEOPLE,
        defaults={
            "dialogue": {"turns": "messages"},
            "turn": {"role": "role", "text": "content", "speaker": "name"},
        },
    ),
    "sharegpt": Form(
        fields=_LIST_OF_TURNS,
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
            "pair": ("system", "history", "prompt", "query", "response", "each"),
        },
        tables=frozenset({"times", "dialect"}),
        needs=(("pair", "prompt"), ("pair", "response")),
        label_targets=("response", "turn", "dialogue", "record"),
        turns_are_objects=False,
    ),
    "preference": Form(
        fields={
            "dialogue": (*_OF_DIALOGUE, "record"),
            "preference": ("prompt", "chosen", "rejected"),
            "turn": ("role", "text"),
        },
        tables=frozenset({"roles", "times", "dialect", "markers"}),
        defaults={
            "preference": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
            "turn": {"role": "role", "text": "content"},
        },
        label_targets=("response", "turn", "dialogue", "record"),
        turns_are_objects=False,
    ),
    "transcript": Form(
        fields={"dialogue": (*_OF_DIALOGUE, "text", "record")},
        tables=frozenset({"times", "dialect", "markers"}),
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
        fields=_LIST_OF_TURNS,
        tables=_PEOPLE,
        needs=(("dialogue", "turns"), ("turn", "text")),
        scope="corpus",
    ),
    "turns": Form(
        fields={"dialogue": _OF_DIALOGUE, "turn": (*_OF_TURN, "order")},
        tables=_PEOPLE,
        needs=(("turn", "text"),),
        is_rows=True,
        scope="corpus",
        label_targets=("turn", "dialogue"),
        has_label_files=True,
    ),
    "convokit": Form(
        fields={"dialogue": _OF_DIALOGUE, "turn": (*_OF_TURN, "order")},
        tables=_PEOPLE - {"dialect"},
        defaults={
            "dialogue": {"id": "conversation_id"},
            "turn": {"id": "id", "text": "text", "speaker": "speaker", "said_at": "timestamp", "reply_to": "reply-to"},
        },
        scope="corpus",
        times={"said_at": "unix"},
    ),
}
