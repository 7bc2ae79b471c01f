"""A JSON file split into its members; what stands around them has to be JSON, they are judged one by one."""

import re

import msgspec

from ingest import decode
from ingest.decode import BadRecord
from ingest.json_members import Member, members

_OPENING = re.compile(rb"[ \t\r\n]*\[[ \t\r\n]*")
_BETWEEN = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_CLOSING = re.compile(rb"[ \t\r\n]*\][ \t\r\n]*")


def list_items(raw: bytes) -> list[Member]:
    """Split a JSON list; raises BadRecord where the file is none, or is malformed outside of its members."""
    if not raw.lstrip(b" \t\r\n").startswith(b"["):
        try:
            msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise decode.json_problem(raw, error) from error
        raise BadRecord("TH-01", "the file is no JSON list")
    pieces = list(members(raw))
    if not _is_list(raw, pieces):
        raise decode.json_problem(raw, ValueError("something else than a comma stands between two members"))
    return pieces


def check_utf8(raw: bytes) -> None:
    """Raise BadRecord TH-02 where a member is not UTF-8, be it in a field that nothing decodes."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise decode.json_problem(raw, error) from error


def _is_list(raw: bytes, pieces: list[Member]) -> bool:
    """Whether a text is a list of just these members; found in it as they were, their lengths tell where they are."""
    position, before = 0, _OPENING
    for piece in pieces:
        found = before.match(raw, position)
        if found is None:
            return False
        position, before = found.end() + len(piece.raw), _BETWEEN
    if not pieces:
        opening = _OPENING.match(raw)
        position = opening.end() if opening else 0
    return _CLOSING.fullmatch(raw, position) is not None
