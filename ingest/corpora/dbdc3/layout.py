"""What the rows do not say of a log and writing it back needs: the order of keys, absent keys, null lists."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from ingest import decode
from ingest.corpora.dbdc3.logs import Label, Log, LogTurn
from ingest.split import members


def stated(log: Log) -> dict[str, Any]:
    """Give everything but words that a log states of its dialogue, by pointer, absent fields left out."""
    stated: dict[str, Any] = {"/group-id": log.group_id, "/speaker-id": log.speaker_id}
    for index, turn in enumerate(log.turns):
        stated[f"/turns/{index}/turn-index"] = turn.turn_index
        stated[f"/turns/{index}/time"] = turn.time
        stated[f"/turns/{index}/annotation-id"] = turn.annotation_id
    return {place: value for place, value in stated.items() if value is not UNSET}


def layout(raw: bytes, log: Log) -> dict[str, Any]:
    """Give what is needed to write a log as it was: the order of keys, absent keys, and null lists."""
    top = decode.keys(raw)
    turns = [member.raw for member in members(decode.member(raw, "turns"))]
    turn_fields = decode.keys(turns[0]) if turns else []
    labelled = next((index for index, turn in enumerate(log.turns) if turn.annotations), None)
    label_fields: list[str] = []
    if labelled is not None:
        first = next(members(decode.member(turns[labelled], "annotations")))
        label_fields = decode.keys(first.raw)
    absent = list(_absent(log, turn_fields, label_fields))
    nulls = {f"/turns/{index}/annotations": None for index, turn in enumerate(log.turns) if turn.annotations is None}
    return {
        "fields": top,
        "turn_fields": turn_fields,
        "label_fields": label_fields,
        "absent": absent,
        "lists": nulls,
    }


def _absent(log: Log, turn_fields: list[str], label_fields: list[str]) -> Iterator[str]:
    """Name the keys that single turns or labels lack; extends the lists by keys that the first one lacks."""
    for objects, fields in ((_turns(log), turn_fields), (_labels(log), label_fields)):
        present = [(place, _present(value)) for place, value in objects]
        for _, names in present:
            fields += [name for name in names if name not in fields]
        known = {name for _, names in present for name in names}
        for place, names in present:
            if len(names) < len(known):
                yield from (f"{place}/{name}" for name in fields if name in known and name not in names)


def _turns(log: Log) -> Iterator[tuple[str, LogTurn]]:
    return ((f"/turns/{index}", turn) for index, turn in enumerate(log.turns))


def _labels(log: Log) -> Iterator[tuple[str, Label]]:
    for place, turn in _turns(log):
        for index, label in enumerate(turn.annotations or ()):
            yield f"{place}/annotations/{index}", label


_NAMES = {
    kind: [(field.name, field.encode_name) for field in msgspec.structs.fields(kind)] for kind in (LogTurn, Label)
}


def _present(value: LogTurn | Label) -> list[str]:
    """Give the JSON names of the fields that are there."""
    return [name for attribute, name in _NAMES[type(value)] if getattr(value, attribute) is not UNSET]
