"""A dialogue in a file: its record, its intents (MA-08), and what an earlier file states otherwise."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from talkhouse.ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from talkhouse.ingest.corpora.mantis.conversations.known import Known
from talkhouse.ingest.corpora.mantis.files import CORPUS, SPLITS
from talkhouse.ingest.corpora.mantis.format import KNOWN_FIELDS, Value, keep
from talkhouse.ingest.corpora.mantis.intent_table import annotations, not_first, spaces
from talkhouse.ingest.decode import dump_extra, pointer
from talkhouse.ingest.outcomes import ReaderFinding, SourceLocation
from talkhouse.ingest.rows import Record, Row

TASK = "intent_prediction"
_SHOWN = 3
_UTTERANCES = pointer("utterances")


def record(
    location: SourceLocation, known: Known, dialogue: PublishedDialogue, rows: list[Row]
) -> tuple[Record, list[ReaderFinding]]:
    """Add the record of a dialogue and its intents; returns it with what is wrong with them."""
    subset, split = location.subset or "", location.split or ""
    site = "".join((location.native_id or "").rpartition("/")[:2])
    key = record_id(subset, split, f"{site}{location.record_index or 0}")
    row = location.record(key, known.dialogue_id, standard_split=SPLITS.get(split))
    is_labelled = "has_intent_labels" in dialogue.facts
    intents: list[Value] = []
    if is_labelled or dialogue.others:
        intents = [dialogue.others.get(index, {}).get("intent", UNSET) for index in range(len(dialogue.orders))]
    row.extra = _extra(dialogue, known, intents if is_labelled else [], intents)
    rows.append(row)
    for index, said in enumerate(intents):
        rows += annotations(row, index, said or [])
    return row, [*_intent_findings(intents, is_labelled=is_labelled), *_disagreements(known)]


def record_id(subset: str, split: str, index: str) -> str:
    """Return the key of a record by its subset, its split and its position among the records of the file."""
    return f"{CORPUS}/{subset}/{split}/{index}"


def _intent_pointer(index: int) -> str:
    return pointer("utterances", index, "intent")


def _intent_findings(intents: list[Value], *, is_labelled: bool) -> Iterator[ReaderFinding]:
    """MA-08: utterances of a labelled dialogue that have no intents; and unusual ones, as a warning."""
    unusual: list[str] = []
    if is_labelled:
        for index, said in enumerate(intents):
            if said is UNSET or said is None:
                detail = "no intents in a labelled dialogue"
                yield ReaderFinding("MA-08", detail, pointer=_intent_pointer(index), task=TASK, turn_index=index)
        if intents[0] is not UNSET and intents[0] is not None:
            unusual += not_first(intents[0])
    unusual += spaces([intent for said in intents for intent in said or []])
    if unusual:
        yield ReaderFinding("MA-08", "; ".join(unusual), pointer="", severity="warn")


def _disagreements(known: Known) -> Iterator[ReaderFinding]:
    """MA-09 and MA-10: what another file says of the dialogue."""
    if known.is_new and not known.is_first:
        detail = f"other words than an earlier file has under this key; kept as {known.dialogue_id}"
        yield ReaderFinding("MA-09", detail, pointer="")
    if known.differs:
        # Of utterances, a field is compared as a whole, so that no single one of them can be named.
        first = next(iter(known.differs))
        at = _UTTERANCES if first.startswith(f"{_UTTERANCES}/") else first
        names = list(dict.fromkeys(at.rpartition("/")[2] for at in known.differs))
        shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
        yield ReaderFinding("MA-10", f"an earlier file states otherwise: {shown}", pointer=at)


def _extra(dialogue: PublishedDialogue, known: Known, labelled: list[Value], intents: list[Value]) -> str | None:
    """Return ``extra``: the keys in published order, and what no row gives back."""
    orders = dialogue.orders[0] if len(set(dialogue.orders)) == 1 else dialogue.orders
    own: dict[str, Any] = {
        "fields": list(dialogue.facts),
        "lists": {_intent_pointer(index): said for index, said in enumerate(intents) if said in ([], None)},
        "absent": [_intent_pointer(index) for index, said in enumerate(labelled) if said is UNSET],
        "differs": known.differs,
        "orders": None if known.is_new else Raw(msgspec.json.encode(orders)),
    }
    unknown: dict[str, Any] = {}
    literals: dict[str, str] = {}
    for name, value in dialogue.facts.items():
        if name not in KNOWN_FIELDS:
            keep(pointer(name), value, unknown, literals)
    keep("has_intent_labels", dialogue.facts.get("has_intent_labels", UNSET), own, literals)
    return dump_extra(own | {"unknown": unknown, "literals": literals})
