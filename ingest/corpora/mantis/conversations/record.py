"""A dialogue's place in a file: its record, its intents, and what the file states otherwise than an earlier one."""

from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET

from ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from ingest.corpora.mantis.conversations.known import Known
from ingest.corpora.mantis.conversations.labels import labels
from ingest.corpora.mantis.files import CORPUS, SPLITS
from ingest.corpora.mantis.format import KNOWN_FIELDS, keep
from ingest.decode import pointer
from ingest.outcomes import ReaderFinding, SourceLocation
from ingest.rows import Record, Row

_SHOWN = 3


def record(
    location: SourceLocation, known: Known, dialogue: PublishedDialogue, rows: list[Row]
) -> tuple[Record, list[ReaderFinding]]:
    """Add the record of a dialogue and its intents; returns it with what is wrong with them."""
    subset, split = location.subset or "", location.split or ""
    row = location.record(
        record_id(subset, split, location.record_index or 0), known.dialogue_id, standard_split=SPLITS[split]
    )
    said = labels(dialogue, row)
    own: dict[str, Any] = {"lists": said.lists, "absent": said.absent, "differs": known.differs}
    own = {name: value for name, value in own.items() if value}
    if not known.is_new:
        own["orders"] = dialogue.orders[0] if len(set(dialogue.orders)) == 1 else dialogue.orders
    row.extra = _extra(dialogue, own)
    rows += [row, *said.rows]
    return row, said.findings + _disagreements(known)


def record_id(subset: str, split: str, index: int | str) -> str:
    """Return the key of a record by its subset, its split and its place among the records of the file."""
    return f"{CORPUS}/{subset}/{split}/{index}"


def _disagreements(known: Known) -> list[ReaderFinding]:
    """MA-09 and MA-10: what another file says of the dialogue."""
    findings = []
    if known.is_new and not known.is_first:
        detail = f"other words than an earlier file has under this key; kept as {known.dialogue_id}"
        findings.append(ReaderFinding("MA-09", detail, pointer=""))
    if known.differs:
        names = list(dict.fromkeys(place.rpartition("/")[2] for place in known.differs))
        shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
        detail = f"an earlier file states otherwise: {shown}"
        findings.append(ReaderFinding("MA-10", detail, pointer=next(iter(known.differs))))
    return findings


def _extra(dialogue: PublishedDialogue, own: dict[str, Any]) -> str:
    """Return ``extra``: the keys in published order, and what else there is to say."""
    unknown: dict[str, Any] = {}
    literals: dict[str, str] = {}
    for name, value in dialogue.facts.items():
        if name not in KNOWN_FIELDS:
            keep(pointer(name), value, unknown, literals)
    keep("has_intent_labels", dialogue.facts.get("has_intent_labels", UNSET), own, literals)
    own |= {name: some for name, some in (("unknown", unknown), ("literals", literals)) if some}
    if not own:
        return fields(tuple(dialogue.facts))
    return msgspec.json.encode({"fields": list(dialogue.facts)} | own).decode()


@cache
def fields(names: tuple[str, ...]) -> str:
    """Return ``extra`` of a record that has nothing to say but the order of its keys."""
    return msgspec.json.encode({"fields": names}).decode()
