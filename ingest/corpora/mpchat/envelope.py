"""A file split into its fields and dialogues; what stands around dialogues has to be JSON, they are judged later."""

import json
import re
from collections.abc import Collection
from typing import NamedTuple

import msgspec
from msgspec import Raw

from ingest import decode, json_members
from ingest.corpora.mpchat.format import SPLITS


class _Marks(NamedTuple):
    """What stands before the first member of a list or object, between two, behind the last, and if there is none."""

    first: re.Pattern[bytes]
    between: re.Pattern[bytes]
    last: re.Pattern[bytes]
    none: re.Pattern[bytes]


def _marks(opening: str, key: str, closing: str) -> _Marks:
    blank = r"[ \t\r\n]*"
    patterns = (f"{opening}{blank}{key}", f",{blank}{key}", f"{closing}{blank}", f"{opening}{blank}{closing}{blank}")
    return _Marks(*(re.compile((blank + pattern).encode(), re.DOTALL) for pattern in patterns))


_LIST = _marks(r"\[", "", r"\]")
_OBJECT = _marks(r"\{", r'"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*', r"\}")


def split_file(raw: memoryview) -> tuple[dict[str, Raw], dict[str, list[Raw]]]:
    """Split a file into its fields, and its splits into dialogues, without a copy; BadRecord if it is none.

    A dialogue that is malformed is given like the others; anything else that is malformed is the file's defect.
    """
    if bytes(raw[:1_000]).lstrip()[:1] == b"[":
        raise decode.BadRecord("MP-01", "a bare list instead of an object with train, val and test")
    fields = _fields(raw)
    missing = [name for name in SPLITS if name not in fields]
    if missing:
        raise decode.BadRecord("MP-01", f"no {' and no '.join(missing)}, but {', '.join(fields) or 'nothing'}")
    _check(raw, fields.values(), _OBJECT, raw)
    lists = {}
    for name, piece in fields.items():
        if name not in SPLITS:
            check_unknown(decode.pointer(name), bytes(piece))
            continue
        if bytes(memoryview(piece)[:1]) != b"[":
            raise decode.BadRecord("MP-01", "no list of dialogues", f"/{name}")
        lists[name] = json_members.items(piece)
        _check(memoryview(piece), lists[name], _LIST, raw)
    return fields, lists


def check_unknown(pointer: str, piece: bytes) -> None:
    """Raise BadRecord where a field that no documentation names could not be kept: TH-01, TH-02 or TH-04."""
    try:
        piece.decode()
        decode.decoder(Raw).decode(piece)  # a number beyond any double is no defect
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        bad = decode.json_problem(piece, error)
        raise decode.BadRecord(bad.rule, bad.detail, pointer + bad.pointer) from error


def _fields(raw: memoryview) -> dict[str, Raw]:
    fields: dict[str, Raw] = {}
    try:
        for name, piece in json_members.views(raw):
            if name in fields:
                raise decode.BadRecord("TH-03", f"the key {name!r} stands twice in one object")
            fields[name] = piece
            name.encode()
    except json.JSONDecodeError as error:
        raise decode.json_problem(bytes(raw), error) from error
    except UnicodeEncodeError as error:
        raise decode.BadRecord("TH-02", "half of a surrogate pair in a key") from error
    return fields


def _check(text: memoryview, members: Collection[Raw], marks: _Marks, whole: memoryview) -> None:
    """Raise BadRecord where a text is not just these members and what JSON wants around them.

    They were found in it, so that their lengths tell where they are.
    """
    position, before = 0, marks.first
    for member in members:
        found = before.match(text, position)
        if found is None:
            break
        position, before = found.end() + len(memoryview(member)), marks.between
    else:
        if (marks.last.fullmatch(text, position) if members else marks.none.fullmatch(text)) is not None:
            return
    raise decode.json_problem(bytes(whole), ValueError("something else than a comma stands between two members"))
