"""Strict, typed JSON: what is wrong is named with its rule and its JSON pointer, and nothing is dropped in silence."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints, is_typeddict

import msgspec
from msgspec import Raw

from talkhouse.ingest.files.limits import DEFAULT, DEPTH

T = TypeVar("T")


class BadRecord(Exception):
    """A source record breaks a rule; ``pointer`` says where, inside the record."""

    def __init__(self, rule: str, detail: str, pointer: str = "") -> None:
        self.rule, self.detail, self.pointer = rule, detail, pointer
        super().__init__(f"{rule}: {detail}")


class Decoded(NamedTuple, Generic[T]):
    """A typed record, and the fields that its type does not know: JSON pointer -> literal."""

    value: T
    unknown: dict[str, Raw]


def record(raw: bytes, kind: type[T], *, rule: str) -> Decoded[T]:
    """Decode one JSON document as ``kind``, of TypedDicts or of Struct types with ``forbid_unknown_fields``.

    What is absent stays absent: optional fields of a Struct default to ``UNSET``. A TypedDict has its keys in published
    order.
    Raises BadRecord: ``rule`` where the shape is wrong, TH-01 to TH-04 where the JSON is.
    """
    try:
        return _known(raw, kind) or _known_and_unknown(raw, kind)
    except msgspec.ValidationError as error:
        check_depth(raw)
        raise shape_problem(error, rule) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        check_depth(raw)
        raise json_problem(raw, error) from error


def _known(raw: bytes, kind: type[T]) -> Decoded[T] | None:
    """Decode a document that has only fields which its type knows, each once; None for any other."""
    try:
        value = decoder(kind).decode(raw)
    except msgspec.ValidationError as error:
        if "unknown field" not in str(error):
            raise
        return None
    written = msgspec.json.encode(value)
    if not _has_same_quotes(raw, written):
        return None
    check_depth(written)  # has the same levels as the text, and no blanks
    return Decoded(value, {})


def _known_and_unknown(raw: bytes, kind: type[T]) -> Decoded[T]:
    """Decode a document that may have unknown fields, which are split off, or a key twice."""
    check_depth(raw)
    known, unknown = _split_unknown(raw, kind)
    value = decoder(kind).decode(known)
    json.loads(raw, object_pairs_hook=unique, parse_int=str)
    return Decoded(value, unknown)


def exact(raw: bytes, kind: type[T], *, rule: str) -> T:
    """Decode one JSON document as ``kind``, a Struct type from whose values it can be written back with all its keys.

    Optional fields default to ``UNSET``; one of type ``Raw`` keeps its text, without the blanks between its parts.
    Raises BadRecord: ``rule`` where the shape is wrong, fields are unknown or in another order than those of the type;
    TH-01 to TH-04 where the JSON is.
    """
    try:
        compact = msgspec.json.format(raw, indent=-1)
        value: T = decoder(kind).decode(compact)
        written = msgspec.json.encode(value)
        if not compact.isascii():
            compact.decode()  # a text inside of Raw was passed over
        if written != compact:
            _check_same(compact, written, rule)
    except msgspec.ValidationError as error:
        raise shape_problem(error, rule) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise json_problem(raw, error) from error
    if rb"\ud" in compact or rb"\uD" in compact:
        _check_surrogates(raw)
    check_depth(compact)
    return value


def check(raw: bytes) -> Any:
    """Decode one JSON value; raise BadRecord TH-01 to TH-04 where it can't be kept as it is.

    Afterwards the text is known to be UTF-8 without half of a surrogate pair, to have no key twice in an object at any
    depth, no NaN, and at most ``DEPTH`` levels of brackets. Numbers may have any size; of a text with one that no
    double holds, the value is None.
    """
    value = None
    try:
        value = _ANY.decode(raw)
        if not _has_same_quotes(raw, msgspec.json.encode(value)):
            _check_duplicates(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not isinstance(error, msgspec.ValidationError):
            raise json_problem(raw, error) from error
        _check_with_large_numbers(raw, error)
    if _is_deep(raw):
        raise BadRecord("TH-01", _TOO_DEEP)
    return value


def _check_with_large_numbers(raw: bytes, error: Exception) -> None:
    """Check a text in which a number is beyond all doubles: ``1e400``."""
    check_depth(raw)
    constants: list[str] = []
    try:
        hooks: Any = {"parse_int": str, "parse_float": str, "parse_constant": constants.append}
        value = json.loads(raw.decode(), object_pairs_hook=unique, **hooks)
    except ValueError:
        raise json_problem(raw, error) from error
    if constants or _lone_surrogate(value) is not None:
        raise json_problem(raw, error)


def _check_same(raw: bytes, written: bytes, rule: str) -> None:
    """Raise BadRecord where a text and what its values are written as differ in more than how a value is spelt."""
    values = msgspec.json.decode(raw)
    if not _has_same_quotes(raw, msgspec.json.encode(values)):
        _check_duplicates(raw)
    if msgspec.json.encode(values) != msgspec.json.encode(msgspec.json.decode(written)):
        raise BadRecord(rule, "fields are in another order than they have elsewhere")


def _check_surrogates(raw: bytes) -> None:
    """Raise BadRecord TH-02 where half of a surrogate pair stands in a text, be it one that is not decoded."""
    half = _lone_surrogate(json.loads(raw, parse_int=str))
    if half is not None:
        raise BadRecord("TH-02", _HALF, half)


_HALF = "half of a surrogate pair in a text"


def keys(raw: bytes) -> list[str]:
    """List the keys of a JSON object in published order."""
    return list(decoder(dict[str, Raw]).decode(raw))


def pointer(*tokens: object) -> str:
    """Join tokens to a JSON pointer (RFC 6901)."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def last_name(pointer: str) -> str:
    """Return the last token of a JSON pointer."""
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def dump(value: object) -> str | None:
    """Write the JSON text of ``extra``; None for an empty object."""
    return msgspec.json.encode(value).decode() if value else None


def dump_extra(values: Mapping[str, Any]) -> str | None:
    """Write the JSON text of ``extra`` without empty values, but for texts, or None if nothing is left."""
    return dump({key: value for key, value in values.items() if value or value == ""})


def literals(extra: str | None) -> dict[str, Raw]:
    """Read ``extra``; its values stay the literals that they are."""
    return {} if extra is None else decoder(dict[str, Raw]).decode(extra)


def shape_problem(error: msgspec.ValidationError, rule: str) -> BadRecord:
    """Turn msgspec's message, which ends in `` - at `$.turns[2].speaker` ``, into a rule and a pointer."""
    detail, _, path = str(error).partition(" - at `$")
    return BadRecord(rule, detail, re.sub(r"\.|\[", "/", path.rstrip("`").replace("]", "")))


def json_problem(raw: bytes, error: Exception) -> BadRecord:
    """Return the error for a broken rule of JSON or UTF-8, with its place."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as bad:
        return BadRecord("TH-02", f"not UTF-8: byte {raw[bad.start]:#04x} at byte {bad.start:,}")
    if isinstance(error, RecursionError) or _is_deep(raw):
        return BadRecord("TH-01", _TOO_DEEP)
    if len(raw) > DEFAULT.record:
        return _problem_of_large(raw, error)
    constants: list[str] = []
    try:
        value = json.loads(text, parse_constant=constants.append, parse_int=str)
    except RecursionError:
        return BadRecord("TH-01", _TOO_DEEP)
    except json.JSONDecodeError as bad:
        return BadRecord("TH-01", f"malformed JSON: {bad.msg} at line {bad.lineno:,}, column {bad.colno:,}")
    if constants:
        start = next(match.start() for match in _CONSTANT.finditer(text) if match[1])
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        return BadRecord("TH-04", f"{constants[0]} is not a JSON number, at line {line:,}, column {column:,}")
    half = _lone_surrogate(value)
    if half is not None:
        return BadRecord("TH-02", _HALF, half)
    return BadRecord("TH-01", f"malformed JSON: {error}")


def _problem_of_large(raw: bytes, error: Exception) -> BadRecord:
    """Return the error, with its place, of a malformed text that would take too much memory as Python's objects."""
    try:
        decoder(Raw).decode(raw)
    except msgspec.DecodeError as precise:
        error = precise
    place = _BYTE.search(str(error))
    at = int(place[1]) if place else len(raw)
    line, column = raw.count(b"\n", 0, at) + 1, at - raw.rfind(b"\n", 0, at)
    return BadRecord("TH-01", f"malformed JSON: {error}, at line {line:,}, column {column:,}")


_BYTE = re.compile(r"\(byte (\d+)\)")


def check_depth(raw: bytes) -> None:
    """Raise BadRecord TH-01 where a text has more levels of brackets than can be worked with everywhere."""
    if _is_deep(raw):
        raise BadRecord("TH-01", _TOO_DEEP)


_TOO_DEEP = f"nested too deeply: more than {DEPTH} levels"
_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


def _is_deep(raw: bytes) -> bool:
    """Whether the brackets of a text, but for those in strings, have more levels than ``DEPTH``; fast if it has few."""
    if raw.count(b"[") + raw.count(b"{") <= DEPTH:
        return False
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    plain = plain.translate(_AS_BRACKETS, _NO_BRACKETS)
    brackets = b"".join(plain.replace(b'""', b"").split(b'"')[::2])
    for _ in range(DEPTH):
        before, brackets = len(brackets), brackets.replace(b"[]", b"")
        if len(brackets) == before:
            return False
    return bool(brackets)


def text(raw: bytes) -> str:
    """Decode UTF-8; raises BadRecord TH-02 where it is not."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise json_problem(raw, error) from error


_ANY = msgspec.json.Decoder()
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a type; each is made once."""
    if kind not in _DECODERS:
        _DECODERS[kind] = msgspec.json.Decoder(kind)
    return _DECODERS[kind]


_CONSTANT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|(NaN|-?Infinity)')


def _lone_surrogate(value: object, at: str = "") -> str | None:
    """Find the pointer of the first text with half of a surrogate pair."""
    match value:
        case str():
            return at if any("\ud800" <= char <= "\udfff" for char in value) else None
        case dict():
            inner = [(key, key) for key in value] + list(value.items())
        case list():
            inner = list(enumerate(value))
        case _:
            return None
    pointers = (_lone_surrogate(item, at + pointer(_printable(token))) for token, item in inner)
    return next((hit for hit in pointers if hit is not None), None)


def _printable(token: object) -> str:
    return str(token).encode(errors="backslashreplace").decode()


# A text and its own decoded value written again have the same quotes, two for each string and one for each that is
# escaped inside of one, unless a key stands twice, of which the value has lost at least two. Only an escape that is
# a quote would blur that.
_QUOTE_ESCAPED = rb"\u0022"


def _check_duplicates(raw: bytes) -> None:
    """Raise BadRecord TH-03 where an object has a key twice."""
    json.loads(raw, object_pairs_hook=unique, parse_int=str)


def _has_same_quotes(raw: bytes, written: bytes) -> bool:
    return raw.count(b'"') == written.count(b'"') and not (b"\\" in raw and _QUOTE_ESCAPED in raw)


def unique(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Collect an object's members, for ``json.loads`` too; raises BadRecord TH-03 where a key stands twice."""
    members = list(pairs)
    values = dict(members)
    if len(values) < len(members):
        counts = Counter(key for key, _ in members)
        twice = next(key for key in values if counts[key] > 1)
        raise BadRecord("TH-03", f"the key {twice!r} stands twice in one object")
    return values


def _split_unknown(raw: bytes, kind: Any) -> tuple[bytes, dict[str, Raw]]:
    """Split off the fields that a type does not know: the JSON without them, and them by pointer."""
    unknown: dict[str, Raw] = {}

    def strip(text: Raw, kind: Any, at: str) -> Any:
        fields, item = _fields_of(kind), _list_item(kind)
        opening = bytes(text).lstrip()[:1]
        if fields is not None and opening == b"{":
            known = {}
            for key, piece in decoder(dict[str, Raw]).decode(text).items():
                inner = at + pointer(key)
                if key in fields:
                    known[key] = strip(piece, fields[key], inner)
                else:
                    unknown[inner] = Raw(bytes(piece))
            return known
        if item is not None and opening == b"[":
            pieces = decoder(list[Raw]).decode(text)
            return [strip(piece, item, f"{at}/{index}") for index, piece in enumerate(pieces)]
        return text

    return msgspec.json.encode(strip(Raw(raw), kind, "")), unknown


@cache
def _fields_of(kind: Any) -> dict[str, Any] | None:
    """Return the types of the fields of a Struct or TypedDict by their JSON names, also of one inside a union.

    None for other types.
    """
    for option in _options(kind):
        if is_typeddict(option):
            return get_type_hints(option)
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return {field.encode_name: field.type for field in msgspec.structs.fields(option)}
    return None


@cache
def _list_item(kind: Any) -> Any:
    """Return the item type of a list type, also of one inside a union; None for other types."""
    return next((o.__args__[0] for o in _options(kind) if getattr(o, "__origin__", None) is list), None)


def _options(kind: Any) -> tuple[Any, ...]:
    arguments = getattr(kind, "__args__", ())
    return arguments if arguments and getattr(kind, "__origin__", None) is not list else (kind,)
