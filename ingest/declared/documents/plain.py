"""Messages that are a role and a text and nothing else, as nearly all are: read a whole list at once."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, cast

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.documents.messages import Messages
from talkhouse.ingest.declared.documents.talk import PlainTurns, Said
from talkhouse.ingest.decode import decoder

_ITEMS = decoder(list[Raw])
_KEPT = 10_000
_MOST_WORDS = 1_000
"""Roles that are looked up; messages with others are read like those with more members."""


class _Plain(Protocol):
    role: str
    text: str


class _Order(NamedTuple):
    """An order of the keys of a plain message, as a shape, and what its keys are."""

    shape: Mapping[str, object]
    role: str
    text: str
    is_role_first: bool


class PlainMessages:
    """Reads plain messages in a fifth of the time that ``Messages`` takes, to the same turns."""

    def __init__(self, messages: Messages, at: str) -> None:
        self._roles: dict[str, str] = {}
        self._messages = messages
        self._at = at
        self._pointers: list[str] = []
        role, text = messages.turn.role or (), messages.turn.text or ()
        self._is_used = len(role) == len(text) == 1 and role != text and messages.turn.speaker != role
        if not self._is_used:
            return
        names = {"role": str(role[0]), "text": str(text[0])}
        kind = msgspec.defstruct(
            "Plain", [("role", str), ("text", str)], rename=names, forbid_unknown_fields=True, gc=False
        )
        self._one = msgspec.json.Decoder(kind)
        self._all = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
        shape: dict[str, object] = {name: column for column, name in names.items()}
        orders = (shape, dict(reversed(shape.items())))
        self._shapes = {b"{" + msgspec.json.encode(next(iter(order))) + b":": order for order in orders}
        """How an object begins -> its shape."""
        self._shapes_by_keys = {
            tuple(order): _Order(order, names["role"], names["text"], is_role_first=order is shape) for order in orders
        }

    def columns(self, messages: object) -> PlainTurns | None:
        """Read a list of messages that has been decoded; None where not all are plain, or not in one order of keys."""
        if not self._is_used or type(messages) is not list or set(map(type, messages)) != {dict}:
            return None
        orders = set(map(tuple, messages))
        order = self._shapes_by_keys.get(orders.pop())
        if order is None or orders:
            return None
        first, second = zip(*map(dict.values, messages), strict=True)
        words, texts = (first, second) if order.is_role_first else (second, first)
        if set(map(type, texts)) != {str}:
            return None
        try:
            roles = list(map(self._roles.__getitem__, words))
        except (KeyError, TypeError):
            is_known = all(type(word) is str and self._learn(word) for word in words)
            return self.columns(messages) if is_known else None
        return PlainTurns(roles, texts, order.shape, self._at)

    def read(self, raw: Raw, decoded: object) -> tuple[list[Said | None], bool]:
        """Read the plain messages of a list: None for each other one; and whether all are plain.

        ``decoded`` is the list's value, None where that is not at hand. Where no message can be plain, there is no
        None either.
        """
        if not self._is_used:
            return [], False
        if type(decoded) is list:
            return self._read_decoded(decoded)
        if (all_said := self.read_all(raw)) is not None:
            return list(all_said), True
        items = _ITEMS.decode(raw)
        self._point(len(items))
        return [self._read_one(item, at) for item, at in zip(items, self._pointers, strict=False)], False

    def _read_decoded(self, messages: list[object]) -> tuple[list[Said | None], bool]:
        self._point(len(messages))
        roles, shapes, is_whole = self._roles, self._shapes_by_keys, True
        read: list[Said | None] = []
        for message, at in zip(messages, self._pointers, strict=False):
            if type(message) is dict and (known := shapes.get(tuple(message))) is not None:
                role, text = message[known.role], message[known.text]
                if type(text) is str and type(role) is str and (role in roles or self._learn(role)):
                    read.append(Said(roles[role], text, at, shape=known.shape))
                    continue
            read.append(None)
            is_whole = False
        return read, is_whole

    def _point(self, count: int) -> None:
        """Have the pointers of so many messages at hand; those of the longest lists are not kept for the next."""
        del self._pointers[_KEPT:]
        known = len(self._pointers)
        self._pointers += [f"{self._at}/{position}" for position in range(known, count)]

    def read_all(self, raw: Raw) -> list[Said] | None:
        """Read a list of messages; None where not all are plain, or not all in one order of keys."""
        if not self._is_used:
            return None
        try:
            messages: list[_Plain] = self._all.decode(raw)
        except msgspec.DecodeError:
            return None
        shape = self._shape(bytes(raw), len(messages)) or self._shape(
            msgspec.json.format(raw, indent=-1), len(messages)
        )
        if shape is None:
            return None
        self._point(len(messages))
        roles = self._roles
        try:
            return [
                Said(roles[message.role], message.text, at, shape=shape)
                for message, at in zip(messages, self._pointers, strict=False)
            ]
        except KeyError:
            is_known = all(self._learn(message.role) for message in messages)
            return self.read_all(raw) if is_known else None

    def _shape(self, text: bytes, number: int) -> Mapping[str, object] | None:
        """Return the shape that all objects of a list have: in a text the quotes of a key would be escaped."""
        return next((shape for start, shape in self._shapes.items() if text.count(start) == number), None)

    def _read_one(self, raw: Raw, at: str) -> Said | None:
        text = bytes(raw)
        shape = self._shapes.get(text[: text.find(b":") + 1])
        if shape is None:
            return None
        try:
            message = cast(_Plain, self._one.decode(text))
        except msgspec.DecodeError:
            return None
        role = self._roles.get(message.role)
        if role is None and self._learn(message.role):
            role = self._roles[message.role]
        return None if role is None else Said(role, message.text, at, shape=shape)

    def _learn(self, word: str) -> bool:
        """Keep the role of a word that says no more than that; return whether it is one."""
        if word not in self._roles and len(self._roles) < _MOST_WORDS and self._messages.is_plain(word):
            self._roles[word] = self._messages.roles.ours(word)
        return word in self._roles
