"""human_annotations.json: which skills people see in turns of the validation file, and which a classifier does.

A row belongs to the turn at its place in the run of its ``internal_id``, if that turn has its words.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Raw, Struct

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk.format import CORPUS, SEEDS
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts, extra_of, record_at
from talkhouse.ingest.corpora.blended_skill_talk.warnings import cases
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.keys import digest
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, Rejected, SourceLocation, reject
from talkhouse.ingest.stored_record import StoredRecord

_DATA = "data"
"""The one key of the file."""

MODES = {
    f"{CORPUS}.knowledge": "knowledge",
    f"{CORPUS}.empathy": "empathy",
    f"{CORPUS}.personal_situations": "situations",
    f"{CORPUS}.personal_background": "personal_background",
}
"""The annotation scheme of each mode, with the field of a row that says whether the turn shows it."""

CLASSIFIER = f"{CORPUS}.classifier_prediction"


class AnnotatedTurn(Struct, forbid_unknown_fields=True):
    """One row, its fields in published order."""

    internal_id: Annotated[int, Meta(ge=0, lt=2**31)]
    knowledge: bool
    empathy: bool
    situations: bool
    personal_background: bool
    classifier_prediction: str
    text: str


class ValidationDialogue(NamedTuple):
    """A dialogue of the validation file: its key, and hashes of its own turns, without the seed utterances."""

    dialogue_id: str
    turns: list[bytes]


class _Extra(Struct):
    """What ``records.extra`` holds."""

    text: str


def read_human_annotations(
    input_file: InputFile, raw: bytes, _: UniqueTexts, dialogues: dict[int, ValidationDialogue]
) -> Iterator[Outcome]:
    """Read the file, a record for each row; ``dialogues`` are those of the validation file, by their places in it.

    Raises BadRecord where the file is no list of rows.
    """
    fields = decode.unique(json_members.views(raw))
    if list(fields) != [_DATA] or bytes(memoryview(fields[_DATA])[:1]) != b"[":
        found = ", ".join(f"{key!r}: {bytes(memoryview(value)[:9])!r} ..." for key, value in fields.items())[:200]
        raise BadRecord("BS-09", f"expected {{'data': [rows]}}, found {{{found}}}")
    pieces = json_members.items(fields[_DATA], raw)
    yield FileEnvelope(input_file.file, {"shape": _DATA}, len(pieces))
    doubts: defaultdict[str, list[int]] = defaultdict(list)
    seen: set[int | None] = set()
    for internal_id, run in groupby(_rows(input_file, pieces), key=attrgetter("internal_id")):
        rows = list(run)
        dialogue = None if internal_id is None else dialogues.get(internal_id)
        if not dialogues:
            doubts["no turn to belong to, for valid.json is not loaded"] += _indexes(rows)
        elif dialogue is None:
            doubts["an internal_id of which valid.json has no loaded episode"] += _indexes(rows)
        elif internal_id in seen:
            doubts["an internal_id whose rows are interrupted by others"] += _indexes(rows)
            dialogue = None
        seen.add(internal_id)
        yield from _placed(input_file, rows, dialogue, doubts)
    for what, indexes in doubts.items():
        for finding in cases("BS-12", what, _DATA, indexes):
            yield replace(finding, file=input_file.file, severity=None if dialogues else "note")


class _LocatedRow(NamedTuple):
    internal_id: int | None
    """That of its run: of a bad row, which keeps its place, of the run before it."""
    location: SourceLocation
    row: AnnotatedTurn | Rejected


def _rows(input_file: InputFile, pieces: list[Raw]) -> Iterator[_LocatedRow]:
    """Decode row by row."""
    internal_id: int | None = None
    for index, piece in enumerate(pieces):
        at = pointer(_DATA, index)
        input_file.file.check_record(len(memoryview(piece)), at)
        raw = bytes(piece)
        location = input_file.record_location(index, at, len(raw))
        try:
            row = decode.exact(raw, AnnotatedTurn, rule="BS-09")
        except BadRecord as bad:
            yield _LocatedRow(internal_id, location, reject(location, bad, raw))
        else:
            internal_id = row.internal_id
            yield _LocatedRow(internal_id, replace(location, native_id=str(internal_id)), row)


def _indexes(rows: list[_LocatedRow]) -> list[int]:
    return [located.location.record_index or 0 for located in rows]


def _placed(
    input_file: InputFile,
    rows: list[_LocatedRow],
    dialogue: ValidationDialogue | None,
    doubts: defaultdict[str, list[int]],
) -> Iterator[Outcome]:
    """Load the rows of a run, each on the turn at its place, or on none where that turn is not certain."""
    turns = dialogue.turns if dialogue else []
    size = len(turns) // 2 * 2 - 2
    same = [
        isinstance(row, AnnotatedTurn) and turns[place : place + 1] == [digest(row.text)]
        for place, (_, _, row) in enumerate(rows)
    ]
    is_whole = all(same) and len(rows) == size
    if dialogue:
        others = [row for row, is_same in zip(rows, same, strict=True) if not is_same]
        doubts["not the words that its dialogue has at this place"] += _indexes(others)
        doubts["too few or too many rows of a dialogue"] += [] if len(rows) == size else _indexes(rows)
    for place, (_, location, row) in enumerate(rows):
        if isinstance(row, Rejected):
            yield row
            continue
        # In a run with gaps, words that the dialogue has twice may be those of the other turn.
        is_certain = same[place] and (is_whole or turns.count(turns[place]) == 1)
        dialogue_id = dialogue.dialogue_id if dialogue and is_certain else None
        turn = place + SEEDS if is_certain else None
        record = record_at(location, input_file, {"text": row.text}, dialogue_id)
        labels = {scheme: str(getattr(row, name)).lower() for scheme, name in MODES.items()}
        labels[CLASSIFIER] = row.classifier_prediction
        yield Loaded(location, [record, *(record.annotation(turn, *label) for label in labels.items())])


def write_human_annotations(stored: StoredRecord) -> bytes:
    """Return the JSON of one row."""
    labels = {row.scheme: row.label or "" for row in stored.annotations}
    modes = {name: labels[scheme] == "true" for scheme, name in MODES.items()}
    text = extra_of(stored, _Extra).text
    return msgspec.json.encode(
        AnnotatedTurn(int(stored.loaded.native_id or 0), **modes, classifier_prediction=labels[CLASSIFIER], text=text)
    )
