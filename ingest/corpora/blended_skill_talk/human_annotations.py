"""human_annotations.json: its layout is not documented, so any JSON is kept whole, and what names a mode is mapped."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk.format import CORPUS
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts, extra_of, record_at
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding
from talkhouse.ingest.rows import Annotation, Record
from talkhouse.ingest.stored_record import StoredRecord

MODES = ("knowledge", "empathy", "personal situations", "personal background")
_TURN_KEYS = ("turn_index", "turn_idx", "turn", "utterance_index")
_DEPTH = 6


class _Extra(Struct):
    """What ``records.extra`` holds."""

    value: Raw = Raw(b"null")


def scheme_of(mode: str) -> str:
    """Name the annotation scheme of a mode."""
    return f"{CORPUS}.{mode.replace(' ', '_')}"


def read_human_annotations(input_file: InputFile, raw: bytes, _: UniqueTexts) -> Iterator[Outcome]:
    """Read the file: a record for each member of the outermost list or object."""
    decode.check_depth(raw)
    try:
        whole = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    pieces = [("", raw.strip())]
    if isinstance(whole, dict | list):
        pieces = [(pointer(token), bytes(piece)) for token, piece in json_members.views(raw)]
    yield FileEnvelope(input_file.file, _envelope(whole, raw), len(pieces))
    mapped = 0
    for index, (at, piece) in enumerate(pieces):
        input_file.file.check_record(len(piece), at)
        location = input_file.record_location(index, at, len(piece))
        record = record_at(location, input_file, {"value": Raw(piece)})
        labels = list(_labels_of(record, msgspec.json.decode(piece), index))
        mapped += len(labels)
        yield Loaded(location, [record, *labels])
    yield ReaderFinding("BS-11", f"{mapped} labels of modes found in {_shape(whole)}", input_file.file, "")


def _envelope(whole: Any, raw: bytes) -> dict[str, Any]:
    if isinstance(whole, dict):
        return {"shape": "object", "fields": [token for token, _ in json_members.views(raw)]}
    return {"shape": "list" if isinstance(whole, list) else "value"}


def write_human_annotations(stored: StoredRecord) -> bytes:
    """Return a member as it was published."""
    return bytes(extra_of(stored, _Extra).value)


def _shape(value: Any, depth: int = 0) -> str:
    """Describe a JSON value by its types and keys."""
    if isinstance(value, dict):
        inner = "..." if depth >= _DEPTH else ", ".join(f"{key}: {_shape(one, depth + 1)}" for key, one in _some(value))
        return f"object {{{inner}}}"
    if isinstance(value, list):
        kinds = " or ".join(dict.fromkeys(_shape(one, depth + 1) for one in value[:100])) if depth < _DEPTH else "..."
        return f"list of {len(value) if depth == 0 else ''} {kinds or 'nothing'}".replace("  ", " ")
    return "null" if value is None else type(value).__name__


def _some(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(value.items())[:20]


def _labels_of(record: Record, value: Any, index: int) -> Iterator[Annotation]:
    """Walk over a record for keys, and items of lists, that name a mode."""
    for item, (turn, mode, annotator, label) in enumerate(_walk(value, index)):
        yield record.annotation(turn, scheme_of(mode), label, annotator_index=annotator, item_index=item)


_Found = tuple[int | None, str, int, str]
"""Turn, mode, annotator and label."""


def _walk(value: Any, turn: int | None) -> Iterator[_Found]:
    """Find every mode that is named; its turn is stated, or a position in a list."""
    if isinstance(value, dict):
        stated = [value[key] for key in _TURN_KEYS if type(value.get(key)) is int]
        turn = stated[0] if stated and abs(stated[0]) < 2**31 else turn
        for key, inner in value.items():
            mode = _mode(key)
            yield from _labels(turn, mode, inner) if mode else _walk(inner, turn)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            mode = _mode(inner) if isinstance(inner, str) else None
            if mode:
                yield turn, mode, 0, "true"
            else:
                yield from _walk(inner, position)


def _labels(turn: int | None, mode: str, value: Any) -> Iterator[_Found]:
    """Find the labels of one mode: a value, or a list with one per annotator."""
    for annotator, one in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(one, dict | list):
            yield from _walk(one, turn)
        elif one is not None:
            yield turn, mode, annotator, one if isinstance(one, str) else msgspec.json.encode(one).decode()


def _mode(name: str) -> str | None:
    plain = name.lower().replace("_", " ").replace("-", " ")
    return plain if plain in MODES else None
