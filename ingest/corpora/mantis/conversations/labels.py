"""The intents of a dialogue: a label for each, and what is wrong with them (MA-08)."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from ingest.corpora.mantis.format import Value
from ingest.corpora.mantis.intents import annotations, blanks, not_first
from ingest.decode import pointer
from ingest.outcomes import ReaderFinding
from ingest.rows import Annotation, Record

TASK = "intent_prediction"


class Labels(NamedTuple):
    """What a record says of intents."""

    rows: list[Annotation]
    lists: dict[str, list[str] | None]
    """By pointer, the lists that are null or empty."""
    absent: list[str]
    """Pointers of the lists that a labelled dialogue has not."""
    findings: list[ReaderFinding]


def labels(dialogue: PublishedDialogue, record: Record) -> Labels:
    """Return the intents of all utterances."""
    found = Labels([], {}, [], [])
    is_labelled = "has_intent_labels" in dialogue.facts
    if not is_labelled and not dialogue.others:
        return found
    for index in range(len(dialogue.orders)):
        intents, place = _intents(dialogue, index), pointer("utterances", index, "intent")
        if intents:
            found.rows.extend(annotations(intents, record.record_id, record.dialogue_id, index))
        elif intents is not UNSET:
            found.lists[place] = intents
        elif is_labelled:
            found.absent.append(place)
        if is_labelled and (intents is UNSET or intents is None):
            said = "no intents in a labelled dialogue"
            found.findings.append(ReaderFinding("MA-08", said, pointer=place, task=TASK, turn_index=index))
    odd = list(_warnings(dialogue, is_labelled=is_labelled))
    if odd:
        found.findings.append(ReaderFinding("MA-08", "; ".join(odd), pointer="", severity="warn"))
    return found


def _intents(dialogue: PublishedDialogue, index: int) -> Value:
    return dialogue.others.get(index, {}).get("intent", UNSET)


def _warnings(dialogue: PublishedDialogue, *, is_labelled: bool) -> Iterator[str]:
    first = _intents(dialogue, 0)
    if is_labelled and first is not UNSET and first is not None:
        yield from not_first(first)
    said = [some["intent"] for some in dialogue.others.values() if some.get("intent")]
    yield from blanks([intent for intents in said for intent in intents])
