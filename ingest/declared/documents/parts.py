"""Parts of a message: content that is a list, tool calls and results, reasoning, refusals, audio.

The names are those of OpenAI's and Anthropic's interfaces, and of chat templates; the kinds are OpenTelemetry's. A type
that is not known here gets the kind that is nearest, and what no column takes stays with the part.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.declared import shapes as json_shapes
from talkhouse.ingest.declared.parsed_dialogue import ParsedPart
from talkhouse.ingest.decode import BadRecord, check_depth, decoder, literals
from talkhouse.ingest.rows import Part
from talkhouse.schema.toml_files import toml_of

_TABLES = toml_of(__file__, "parts")

KIND_OF_TYPE: Mapping[str, str] = _TABLES["kinds"]
"""Type of a part -> kind."""

Placeholder: TypeAlias = "str | Mapping[str, str]"

ADDRESS = {"url": "uri"}
"""What a column takes of an object with an address; the file may also have the address itself there."""

COLUMNS: Mapping[str, Mapping[str, Placeholder]] = _TABLES["columns"]
"""Kind -> which columns take which members; of two members for one column the one that is named first."""


BARE = {"": "text"}
"""The shape of a text that stands in a list of parts without an object around it."""

_DATA = "data:"
_STRING, _ITEMS, _ANY = decoder(str), decoder(list[Raw]), decoder(Raw)


def read_content(items: Sequence[Raw], field: str, at: str) -> tuple[str, list[ParsedPart]]:
    """Read the list that a message has for a text: the text parts, joined by nothing, and all parts.

    ``at`` is the list's pointer. Raises BadRecord GF-01 for a part that is neither a text nor an object.
    """
    whole, pieces = "", list[ParsedPart]()
    for position, raw in enumerate(items):
        text: str | None = None
        match bytes(raw)[:1]:
            case b'"':
                piece = ParsedPart(field, "text", shape=BARE)
                text = json_shapes.string_of(raw, at, "a part")
            case b"{":
                members = json_shapes.members_of(raw)
                piece = read_part(members, field, _kind_of_content(members))
                if piece.kind == "text":
                    text, piece.text = piece.text or "", None
            case _:
                detail = f"a part is {json_shapes.kind_of(raw)}, neither a text nor an object"
                raise BadRecord("GF-01", detail, f"{at}/{position}")
        if text is not None:
            piece.start_index, piece.end_index = len(whole), len(whole) + len(text)
            whole += text
        pieces.append(piece)
    return whole, pieces


def _kind_of_content(members: json_shapes.Members) -> str:
    raw = members.get("type")
    kind = KIND_OF_TYPE.get(_STRING.decode(raw)) if raw is not None and bytes(raw)[:1] == b'"' else None
    if kind is not None:
        return kind
    if any(bytes(members.get(name, b""))[:1] == b'"' for name in COLUMNS["text"]):
        return "text"
    return "uri" if members.keys() & {"url", "uri", "image_url", "video_url", "audio_url"} else "file"


def read_part(members: json_shapes.Members, field: str, kind: str) -> ParsedPart:
    """Read an object that is a part of this kind."""
    piece, extra = ParsedPart(field, kind), dict[str, Raw]()
    split = json_shapes.SplitObject(members, _wanted(members, kind))
    taken: dict[str, str | None] = {}
    for placeholder, raw in split.placeholders.items():
        if json_shapes.is_null(raw):
            taken[placeholder] = None
        elif bytes(raw)[:1] in (b"{", b"["):
            if placeholder == "arguments":
                piece.arguments, taken[placeholder] = bytes(raw).decode(), placeholder + json_shapes.LITERAL
        else:
            _take(piece, placeholder, raw, taken)
    piece.shape = split.shape(taken, extra)
    if "type" in extra and bytes(extra["type"])[:1] == b'"':
        piece.shape["type"] = [bytes(extra.pop("type")).decode()]
    piece.extra = extra or None
    return piece


def _wanted(members: json_shapes.Members, kind: str) -> json_shapes.Wanted:
    want: dict[str, Placeholder] = {}
    used: set[str] = set()
    for name, placeholder in COLUMNS[kind].items():
        if name not in members:
            continue
        opening = bytes(members[name])[:1]
        if placeholder is ADDRESS and opening == b'"':
            placeholder = "uri"
        columns = {placeholder} if isinstance(placeholder, str) else set(placeholder.values())
        if not columns & used and (isinstance(placeholder, str) or opening == b"{"):
            used |= columns
            want[name] = placeholder
    return want


def _take(piece: ParsedPart, column: str, raw: Raw, taken: dict[str, str | None]) -> None:
    text, suffix = json_shapes.text_of(raw, "", column)
    match column:
        case "arguments":
            if suffix or is_json(text):
                piece.arguments, taken[column] = text, column + suffix
        case "uri" if text[: len(_DATA)].lower() == _DATA:
            piece.kind = "blob"
            piece.mime_type = text[len(_DATA) :].partition(",")[0].partition(";")[0] or None
        case "text" | "uri" if suffix:
            pass
        case _:
            setattr(piece, column, text)
            taken[column] = column + suffix


def is_json(text: str) -> bool:
    """Whether a text is JSON that every reader of JSON takes."""
    try:
        check_depth(text.encode())
        _ANY.decode(text)
    except (BadRecord, msgspec.DecodeError, RecursionError, UnicodeError):
        return False
    return True


def write_part(row: Part, text: str, shapes: json_shapes.KnownShapes) -> bytes:
    """Return the JSON text of a part that is an object or an item of a list; ``text`` is its turn's."""
    extra = literals(row.extra)
    shape = shapes.shape("part", extra)

    def fill(placeholder: str) -> bytes:
        spelling = json_shapes.Spelling.read(placeholder)
        is_place = spelling.column == "text" and row.start_index is not None
        return spelling.write(text[row.start_index : row.end_index] if is_place else getattr(row, spelling.column))

    return fill("text") if shape == BARE else json_shapes.join(shape, extra, fill)


def write_list(items: Sequence[bytes]) -> bytes:
    """Write a JSON list of these items."""
    return b"[" + b",".join(items) + b"]"


_KIND_OF_MEMBER: Mapping[str, str] = {
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "thinking": "reasoning",
    "refusal": "refusal",
    "tool_call_id": "tool_call_response",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "audio": "blob",
}
"""Members of a message other than its content -> kind of the parts that they are."""

MEMBERS: json_shapes.Wanted = {name: name for name in _KIND_OF_MEMBER}
"""What parts take of a message; the placeholders are called as the members."""

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


def read_member(name: str, raw: Raw) -> list[ParsedPart] | None:
    """Read a member of ``MEMBERS`` that is not null, or None if it is not of its kind, so it stays in extra."""
    opening = bytes(raw)[:1]
    kind = _KIND_OF_MEMBER[name]
    if opening == b'"' and name in _TEXTS:
        value = _STRING.decode(raw)
        return [ParsedPart(name, kind, call_id=value) if name == "tool_call_id" else ParsedPart(name, kind, text=value)]
    if opening == b"[" and name == "tool_calls":
        calls = _ITEMS.decode(raw)
        if all(bytes(call)[:1] == b"{" for call in calls):
            return [_read_call(call, name) for call in calls]
    if opening == b"{" and name in _OBJECTS:
        members = json_shapes.members_of(raw)
        return [read_part(members, name, "file" if name == "audio" and "data" not in members else kind)]
    return None


def _read_call(raw: Raw, field: str) -> ParsedPart:
    """Read a tool call to the same part as ``read_part``, at once where it is as most are."""
    try:
        call: _Call | None = _CALL.decode(raw)
    except msgspec.DecodeError:
        call = None
    if call is not None and msgspec.json.encode(call) == msgspec.json.format(raw, indent=-1):
        name, arguments = call.function.name, call.function.arguments
        if is_json(arguments):
            return ParsedPart(field, "tool_call", name=name, call_id=call.id, arguments=arguments, shape=_CALL_SHAPE)
    return read_part(json_shapes.members_of(raw), field, "tool_call")


def write_member(name: str, parts: Sequence[Part], text: str, shapes: json_shapes.KnownShapes) -> bytes:
    """Return the JSON text of a member of ``MEMBERS``, from the turn's parts of that field."""
    if name in _TEXTS:
        value = parts[0].call_id if name == "tool_call_id" else parts[0].text
        return json_shapes.write_text(name, value or "")
    pieces = [write_part(part, text, shapes) for part in parts]
    return pieces[0] if name in _OBJECTS else write_list(pieces)
