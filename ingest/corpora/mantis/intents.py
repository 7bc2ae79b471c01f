"""The intents of a dialogue: a label for each, and what is wrong with them (MA-08)."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from ingest.corpora.mantis.parse import Parsed
from ingest.corpora.mantis.shapes import INTENT, Value
from ingest.decode import pointer
from ingest.outcomes import ReaderFinding
from ingest.rows import Annotation

FIRST = ["OQ"]
"""The intents of every first utterance, set by the authors' code."""

TASK = "intent_prediction"


class Labels(NamedTuple):
    """What a record says of intents."""

    rows: list[Annotation]
    lists: dict[str, list[str] | None]
    """By pointer, the lists that are null or empty."""
    absent: list[str]
    """Pointers of the lists that a labelled dialogue has not."""
    notes: list[ReaderFinding]


NONE = Labels([], {}, [], [])


def labels(parsed: Parsed, record_id: str, dialogue_id: str) -> Labels:
    """Give the intents of all utterances."""
    is_labelled = "has_intent_labels" in parsed.facts
    if not is_labelled and not parsed.others:
        return NONE
    found = Labels([], {}, [], [])
    for index in range(len(parsed.orders)):
        intents, place = _intents(parsed, index), pointer("utterances", index, "intent")
        if intents:
            found.rows.extend(annotations(intents, record_id, dialogue_id, index))
        elif intents is not UNSET:
            found.lists[place] = intents
        elif is_labelled:
            found.absent.append(place)
        if is_labelled and (intents is UNSET or intents is None):
            said = "no intents in a labelled dialogue"
            found.notes.append(ReaderFinding("MA-08", said, pointer=place, task=TASK, turn_index=index))
    odd = list(_oddities(parsed, is_labelled=is_labelled))
    if odd:
        found.notes.append(ReaderFinding("MA-08", "; ".join(odd), pointer="", severity="warn"))
    return found


def annotations(intents: list[str], record_id: str, dialogue_id: str | None, turn: int) -> Iterator[Annotation]:
    """Give a row for each intent of one utterance."""
    for index, intent in enumerate(intents):
        yield Annotation(
            record_id=record_id,
            turn_index=turn,
            persona_set=None,
            persona_position=None,
            scheme=INTENT,
            annotator_index=0,
            item_index=index,
            dialogue_id=dialogue_id,
            persona_id=None,
            annotator_id=None,
            label=intent,
        )


def blanks(intents: list[str]) -> str:
    """Say which intents have blanks around them, or nothing."""
    wide = [repr(intent) for intent in intents if intent != intent.strip()]
    return f"blanks around {', '.join(wide)}" if wide else ""


def _intents(parsed: Parsed, index: int) -> Value:
    return parsed.others.get(index, {}).get("intent", UNSET)


def _oddities(parsed: Parsed, *, is_labelled: bool) -> Iterator[str]:
    first = _intents(parsed, 0)
    if is_labelled and first != FIRST and first is not UNSET and first is not None:
        yield f"the first utterance has the intents {first}, not {FIRST}"
    said = [some["intent"] for some in parsed.others.values() if some.get("intent")]
    if wide := blanks([intent for intents in said for intent in intents]):
        yield wide
