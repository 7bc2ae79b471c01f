"""The lists of persona elements in a dialogue, and their rows: persona uses, candidates, labels."""

import dataclasses
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from msgspec import Raw

from talkhouse.ingest.corpora.mpchat.format import RESPONSES, Label, ListField, Nesting, SourceDialogue, TaskFile
from talkhouse.ingest.rows import Annotation, Candidate, ColumnBatch, PersonaUse, Record

NULL = b"null"


class Use(NamedTuple):
    """A persona where a list names it, and what belongs to this mention of it alone."""

    persona_id: str
    native_id: str
    extra: str | None
    """The order of its keys where it is not the persona's, and labels that are null or empty."""
    title_length: int
    labels: tuple[Label, ...]


@dataclass
class PersonaList:
    """One list of persona elements; ``sizes`` are those of the authors' lists where it is a list of lists."""

    field: ListField
    turn_index: int | None
    raws: list[Raw]
    sizes: list[int] = dataclasses.field(default_factory=list)
    fingerprints: list[bytes] = dataclasses.field(default_factory=list)
    """A hash for each element, once they are decoded."""
    uses: list[Use] = dataclasses.field(default_factory=list)
    """One for each element, once all have their personas."""

    def pointer(self, index: int) -> str:
        """Point at the element with this number, inside the dialogue."""
        match self.field.nesting:
            case Nesting.FLAT:
                return f"/{self.field.name}/{index}"
            case Nesting.PER_TURN:
                return f"/{self.field.name}/{self.turn_index}/{index}"
            case Nesting.ONE_PER_TURN:
                return f"/{self.field.name}/{self.turn_index}"
            case Nesting.PER_AUTHOR:
                position = bisect_right(self._ends, index)
                before = self._ends[position - 1] if position else 0
                return f"/{self.field.name}/{position}/{index - before}"

    @cached_property
    def _ends(self) -> list[int]:
        """Where the lists of the authors end among all elements."""
        return list(accumulate(self.sizes))


Lists: TypeAlias = Mapping[tuple[str, int | None], PersonaList]
"""The lists of a dialogue that are not empty, by set and turn."""


def persona_lists(task_file: TaskFile, dialogue: SourceDialogue) -> Iterator[PersonaList]:
    """List the lists of persona elements that a dialogue has, but for empty ones."""
    for field in task_file.lists:
        value = getattr(dialogue, field.name) or []
        match field.nesting:
            case Nesting.FLAT if value:
                yield PersonaList(field, None, value)
            case Nesting.PER_TURN:
                yield from (PersonaList(field, turn, items) for turn, items in enumerate(value) if items)
            case Nesting.ONE_PER_TURN:
                yield from (PersonaList(field, turn, [raw]) for turn, raw in enumerate(value) if bytes(raw) != NULL)
            case Nesting.PER_AUTHOR if value:
                sizes = [len(items or ()) for items in value]
                raws = list(chain.from_iterable(items or () for items in value))
                if raws:
                    yield PersonaList(field, len(dialogue.messages) - 1, raws, sizes)


def persona_use_batch(record: Record, one: PersonaList) -> ColumnBatch:
    """Return the uses of a list that describes the main author."""
    shared = {
        "record_id": record.record_id,
        "turn_index": one.turn_index,
        "persona_set": one.field.set_name,
        "dialogue_id": record.dialogue_id,
        "speaker_id": record.main_speaker_id,
    }
    return ColumnBatch(PersonaUse, shared, {"position": list(range(len(one.uses))), **_columns(one)})


def candidate_batch(record: Record, one: PersonaList, *, is_answer_first: bool) -> ColumnBatch:
    """Return the candidates of a list of personas, or of authors with a list of personas each."""
    sizes = one.sizes or [1] * len(one.uses)
    indexes = {
        "position": list(chain.from_iterable(repeat(position, size) for position, size in enumerate(sizes))),
        "item_index": list(chain.from_iterable(map(range, sizes))),
    }
    shared = _candidate(record, one.turn_index, one.field.set_name)
    gold = _gold(sizes[0], len(one.uses), is_answer_first=is_answer_first)
    return ColumnBatch(Candidate, shared, indexes | _columns(one) | {"is_gold": gold})


def response_batch(record: Record, turn: int, text_ids: list[str], *, is_answer_first: bool) -> ColumnBatch:
    """Return the candidates of a list of responses."""
    gold = _gold(1, len(text_ids), is_answer_first=is_answer_first)
    columns: dict[str, list[Any]] = {"position": list(range(len(text_ids))), "text_id": text_ids, "is_gold": gold}
    return ColumnBatch(Candidate, _candidate(record, turn, RESPONSES) | {"item_index": 0}, columns)


def annotations(record: Record, one: PersonaList) -> Iterator[Annotation]:
    """List the labels of the personas of a list."""
    for position, use in enumerate(one.uses):
        for label in use.labels:
            yield record.annotation(
                one.turn_index,
                persona_set=one.field.set_name,
                persona_position=position,
                persona_id=use.persona_id,
                **label._asdict(),
            )


def _columns(one: PersonaList) -> dict[str, list[Any]]:
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
    """Mark the items of the first candidate as right; None for all where that is not the answer."""
    if not is_answer_first or not first:
        return [None] * count
    return [position < first for position in range(count)]
