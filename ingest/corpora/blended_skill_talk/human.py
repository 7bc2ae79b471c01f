"""human_annotations.json: its layout is not documented, so any JSON is kept whole, and what names a mode is mapped."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from ingest import decode
from ingest.corpora.blended_skill_talk.given import Given
from ingest.corpora.blended_skill_talk.names import MODES, scheme
from ingest.decode import BadRecord, pointer
from ingest.json_members import Member, members
from ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding
from ingest.rows import Annotation, Record

_TURN_KEYS = ("turn_index", "turn_idx", "turn", "utterance_index")
_DEPTH = 6


def annotations(given: Given, raw: bytes) -> Iterator[Outcome]:
    """Read the file: a record for each member of the outermost list or object."""
    try:
        whole = msgspec.json.decode(raw)
        pieces = list(members(raw)) if isinstance(whole, dict | list) else [Member("", raw.strip())]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield given.refused(decode.json_problem(raw, error), raw)
        return
    except BadRecord as bad:
        yield given.refused(bad, raw)
        return
    kind = "object" if isinstance(whole, dict) else "list" if isinstance(whole, list) else "value"
    frame: dict[str, Any] = {"shape": kind}
    if isinstance(whole, dict):
        frame["fields"] = [piece.token for piece in pieces]
    yield FileEnvelope(given.file, frame, len(pieces))
    mapped = 0
    for index, piece in enumerate(pieces):
        place = "" if kind == "value" else pointer(piece.token)
        record = given.record(index, place, {"value": Raw(piece.raw)})
        rows = list(_modes(record, msgspec.json.decode(piece.raw), index))
        mapped += len(rows)
        yield Loaded(given.place(index, place, len(piece.raw)), [record, *rows])
    yield ReaderFinding("BS-11", f"{mapped} labels of modes found in {shape(whole)}", given.file, "")


def shape(value: Any, depth: int = 0) -> str:
    """Describe a JSON value by its types and keys."""
    if isinstance(value, dict):
        inner = "..." if depth >= _DEPTH else ", ".join(f"{key}: {shape(one, depth + 1)}" for key, one in _some(value))
        return f"object {{{inner}}}"
    if isinstance(value, list):
        kinds = " or ".join(dict.fromkeys(shape(one, depth + 1) for one in value[:100])) if depth < _DEPTH else "..."
        return f"list of {len(value) if depth == 0 else ''} {kinds or 'nothing'}".replace("  ", " ")
    return "null" if value is None else type(value).__name__


def _some(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(value.items())[:20]


def _modes(record: Record, value: Any, index: int) -> Iterator[Annotation]:
    """Walk over a record for keys, and items of lists, that name a mode."""
    for item, (turn, mode, annotator, label) in enumerate(_walk(value, index)):
        yield Annotation(
            record_id=record.record_id,
            turn_index=turn,
            persona_set=None,
            persona_position=None,
            scheme=scheme(mode),
            annotator_index=annotator,
            item_index=item,
            dialogue_id=None,
            persona_id=None,
            annotator_id=None,
            label=label,
        )


Found = tuple[int | None, str, int, str]


def _walk(value: Any, turn: int | None) -> Iterator[Found]:
    """Give turn, mode, annotator and label of every mode that is named; the turn is stated, or a place in a list."""
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


def _labels(turn: int | None, mode: str, value: Any) -> Iterator[Found]:
    """Give the labels of one mode: a value, or a list with one per annotator."""
    for annotator, one in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(one, dict | list):
            yield from _walk(one, turn)
        elif one is not None:
            yield turn, mode, annotator, one if isinstance(one, str) else msgspec.json.encode(one).decode()


def _mode(name: str) -> str | None:
    plain = name.lower().replace("_", " ").replace("-", " ")
    return plain if plain in MODES else None
