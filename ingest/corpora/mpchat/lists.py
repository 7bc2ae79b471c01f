"""The lists of a dialogue to rows: persona uses, candidates and workers' votes, long lists as column_batches."""

from collections.abc import Iterator
from itertools import chain, repeat
from operator import attrgetter
from typing import Any

from ingest.corpora.mpchat.elements import Labels, UsedList
from ingest.corpora.mpchat.files import RESPONSES
from ingest.rows import Annotation, Candidate, ColumnBatch, PersonaUse, Record

ENTAILMENT = "mpchat.entailment"
OVERALL = "mpchat.entailment_overall"


def persona_block(record: Record, one: UsedList) -> ColumnBatch:
    """Give the uses of a list that describes the main author."""
    shared = {
        "record_id": record.record_id,
        "turn_index": one.elements.turn_index,
        "persona_set": one.elements.field.set_name,
        "dialogue_id": record.dialogue_id,
        "speaker_id": record.main_speaker_id,
    }
    return ColumnBatch(PersonaUse, shared, {"position": list(range(len(one.uses))), **_columns(one)})


def candidate_block(record: Record, one: UsedList, *, is_answer_first: bool) -> ColumnBatch:
    """Give the candidates of a list of personas, or of authors with a list of personas each."""
    sizes = one.elements.sizes or [1] * len(one.uses)
    places = {
        "position": list(chain.from_iterable(repeat(position, size) for position, size in enumerate(sizes))),
        "item_index": list(chain.from_iterable(map(range, sizes))),
    }
    shared = _candidate(record, one.elements.turn_index, one.elements.field.set_name)
    gold = _gold(sizes[0], len(one.uses), is_answer_first=is_answer_first)
    return ColumnBatch(Candidate, shared, places | _columns(one) | {"is_gold": gold})


def text_block(record: Record, turn: int, text_ids: list[str], *, is_answer_first: bool) -> ColumnBatch:
    """Give the candidates of a list of responses."""
    gold = _gold(1, len(text_ids), is_answer_first=is_answer_first)
    columns: dict[str, list[Any]] = {"position": list(range(len(text_ids))), "text_id": text_ids, "is_gold": gold}
    return ColumnBatch(Candidate, _candidate(record, turn, RESPONSES) | {"item_index": 0}, columns)


def votes(record: Record, one: UsedList) -> Iterator[Annotation]:
    """Give what workers say of the personas of a list: each worker's vote, and the label that came of it."""
    for position, use in enumerate(one.uses):
        if use.labels:
            yield from _annotations(record, one, position, use.labels)


def _columns(one: UsedList) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"persona_id": list(map(_PERSONA_ID, one.uses))}
    if any(map(_EXTRA, one.uses)):
        columns["extra"] = list(map(_EXTRA, one.uses))
    return columns


_PERSONA_ID, _EXTRA = attrgetter("persona_id"), attrgetter("extra")


def _candidate(record: Record, turn: int | None, name: str) -> dict[str, Any]:
    return {
        "record_id": record.record_id,
        "turn_index": turn,
        "candidate_set": name,
        "dialogue_id": record.dialogue_id,
    }


def _gold(first: int, count: int, *, is_answer_first: bool) -> list[bool | None]:
    """Mark the items of the first candidate as right; nobody knows where that is not the answer."""
    if not is_answer_first or not first:
        return [None] * count
    return [position < first for position in range(count)]


def _annotations(record: Record, one: UsedList, position: int, labels: Labels) -> Iterator[Annotation]:
    said = [(ENTAILMENT, index, *vote) for index, vote in enumerate(labels.votes)]
    if labels.overall is not None:
        said.append((OVERALL, 0, None, labels.overall, None, None))
    for scheme, index, worker, label, value, extra in said:
        yield Annotation(
            record_id=record.record_id,
            turn_index=one.elements.turn_index,
            persona_set=one.elements.field.set_name,
            persona_position=position,
            scheme=scheme,
            annotator_index=index,
            item_index=0,
            dialogue_id=record.dialogue_id,
            persona_id=one.uses[position].persona_id,
            annotator_id=worker,
            label=label,
            value=value,
            extra=extra,
        )
