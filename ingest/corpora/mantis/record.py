"""A dialogue's place in a file: its record, its intents, and what the file states otherwise than an earlier one."""

from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET

from ingest.corpora.mantis.intents import NONE, labels
from ingest.corpora.mantis.layout import CORPUS, SPLITS
from ingest.corpora.mantis.parse import Parsed
from ingest.corpora.mantis.shapes import TALK, keep
from ingest.corpora.mantis.talk import Known
from ingest.decode import pointer
from ingest.outcomes import ReaderFinding, SourceLocation
from ingest.rows import Record, Row

_SHOWN = 3


def record(place: SourceLocation, known: Known, parsed: Parsed, rows: list[Row]) -> list[ReaderFinding]:
    """Add the record of a dialogue and its intents; gives what is wrong with them."""
    key = record_id(place)
    said = labels(parsed, key, known.dialogue_id)
    own: dict[str, Any] = {}
    if said is not NONE or known.differs:
        own = {"lists": said.lists, "absent": said.absent, "differs": known.differs}
        own = {name: value for name, value in own.items() if value}
    if not known.is_new:
        own["orders"] = parsed.orders[0] if len(set(parsed.orders)) == 1 else parsed.orders
    rows.append(
        Record(
            record_id=key,
            corpus_id=CORPUS,
            dialogue_id=known.dialogue_id,
            native_id=place.native_id,
            main_speaker_id=None,
            subset=place.subset,
            release=None,
            split=place.split,
            standard_split=SPLITS[place.split or ""],
            record_index=place.record_index or 0,
            source_file_id=place.file.id,
            source_pointer=place.pointer,
            extra=_extra(parsed, own),
        )
    )
    rows += said.rows
    return said.notes + _disagreements(known) if known.differs or not known.is_first else said.notes


def placed(note: ReaderFinding, place: SourceLocation) -> ReaderFinding:
    """Give a note with its place in the file instead of that in the dialogue."""
    where = place.pointer + (note.pointer or "")
    return ReaderFinding(
        note.rule, note.detail, None, where, record_id(place), note.task, note.turn_index, note.severity
    )


def record_id(place: SourceLocation) -> str:
    """Give the key of the record that stands at a place."""
    return key_of(place.subset or "", place.split or "", place.record_index or 0)


def key_of(subset: str, split: str, index: int | str) -> str:
    """Give the key of a record by its subset, its split and its place among the records of the file."""
    return f"{CORPUS}/{subset}/{split}/{index}"


def _disagreements(known: Known) -> list[ReaderFinding]:
    """MA-09 and MA-10: what another file says of the dialogue."""
    notes = []
    if known.is_new and not known.is_first:
        detail = f"other words than an earlier file has under this key; kept as {known.dialogue_id}"
        notes.append(ReaderFinding("MA-09", detail, pointer=""))
    if known.differs:
        names = list(dict.fromkeys(place.rpartition("/")[2] for place in known.differs))
        shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
        detail = f"an earlier file states otherwise: {shown}"
        notes.append(ReaderFinding("MA-10", detail, pointer=next(iter(known.differs))))
    return notes


def _extra(parsed: Parsed, own: dict[str, Any]) -> str:
    """Give ``extra``: the keys in published order, and what else there is to say."""
    if not own and _KNOWN.issuperset(parsed.facts):
        return fields(tuple(parsed.facts))
    unknown: dict[str, Any] = {}
    literals: dict[str, str] = {}
    for name, value in parsed.facts.items():
        if name not in TALK:
            keep(pointer(name), value, unknown, literals)
    keep("has_intent_labels", parsed.facts.get("has_intent_labels", UNSET), own, literals)
    own |= {name: some for name, some in (("unknown", unknown), ("literals", literals)) if some}
    return msgspec.json.encode({"fields": list(parsed.facts)} | own).decode()


_KNOWN = TALK - {"has_intent_labels"}


@cache
def fields(names: tuple[str, ...]) -> str:
    """Give ``extra`` of a record that has nothing to say but the order of its keys."""
    return msgspec.json.encode({"fields": names}).decode()
