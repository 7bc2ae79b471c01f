"""Members of a message that are parts beside its content: tool calls and results, reasoning, refusals, audio."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.declared.documents.parts import is_json, read_part, write_list, write_part
from talkhouse.ingest.declared.documents.talk import Piece
from talkhouse.ingest.declared.shapes import KnownShapes, Wanted, members_of, write_text
from talkhouse.ingest.decode import decoder
from talkhouse.ingest.rows import Part

_STRING, _ITEMS = decoder(str), decoder(list[Raw])

_WHOLE: Mapping[str, str] = {
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "thinking": "reasoning",
    "refusal": "refusal",
    "tool_call_id": "tool_call_response",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "audio": "blob",
}
"""Members of a message beside its content -> kind of the parts that they are."""

MEMBERS: Wanted = {name: name for name in _WHOLE}
"""What parts take of a message; the holes are called as the members."""

_TEXTS = frozenset({"reasoning_content", "reasoning", "thinking", "refusal", "tool_call_id"})
_OBJECTS = frozenset({"function_call", "audio"})


class _Function(Struct, forbid_unknown_fields=True, gc=False):
    name: str
    arguments: str


class _Call(Struct, forbid_unknown_fields=True, gc=False):
    """A tool call as OpenAI's interface writes it, which most are; others are read member by member."""

    id: str
    type: Literal["function"]
    function: _Function


_CALL = decoder(_Call)
_CALL_SHAPE = {"id": "call_id", "type": ['"function"'], "function": {"name": "name", "arguments": "arguments"}}


def read_member(name: str, raw: Raw) -> list[Piece] | None:
    """Read a member of ``MEMBERS`` that is not null; None where it is not what it should be, so it stays in extra."""
    opening = bytes(raw)[:1]
    kind = _WHOLE[name]
    if opening == b'"' and name in _TEXTS:
        value = _STRING.decode(raw)
        return [Piece(name, kind, call_id=value) if name == "tool_call_id" else Piece(name, kind, text=value)]
    if opening == b"[" and name == "tool_calls":
        calls = _ITEMS.decode(raw)
        if all(bytes(call)[:1] == b"{" for call in calls):
            return [_read_call(call, name) for call in calls]
    if opening == b"{" and name in _OBJECTS:
        members = members_of(raw)
        return [read_part(members, name, "file" if name == "audio" and "data" not in members else kind)]
    return None


def _read_call(raw: Raw, field: str) -> Piece:
    """Read a tool call to the same part as ``read_part``, at once where it is as most are."""
    try:
        call: _Call | None = _CALL.decode(raw)
    except msgspec.DecodeError:
        call = None
    if call is not None and msgspec.json.encode(call) == msgspec.json.format(raw, indent=-1):
        name, arguments = call.function.name, call.function.arguments
        if is_json(arguments):
            return Piece(field, "tool_call", name=name, call_id=call.id, arguments=arguments, shape=_CALL_SHAPE)
    return read_part(members_of(raw), field, "tool_call")


def write_member(name: str, parts: Sequence[Part], text: str, shapes: KnownShapes) -> bytes:
    """Return the JSON text of a member of ``MEMBERS``, from the turn's parts of that field."""
    if name in _TEXTS:
        value = parts[0].call_id if name == "tool_call_id" else parts[0].text
        return write_text(name, value or "")
    pieces = [write_part(part, text, shapes) for part in parts]
    return pieces[0] if name in _OBJECTS else write_list(pieces)
