"""The rows of an episode back to its JSON, with keys in published order."""

from collections import defaultdict
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ingest import decode
from ingest.corpora.blended_skill_talk.names import CHOSEN, LABELS, MODELS, SEEDS, SUGGESTIONS, WORKERS
from ingest.rows import Annotation, Candidate
from ingest.stored_record import StoredRecord


class Extra(Struct):
    """What ``records.extra`` of an episode holds."""

    fields: list[str]
    carried: dict[str, Raw] = {}
    differs: dict[str, Raw] = {}
    unknown: dict[str, Raw] = {}
    beyond: dict[str, Raw] = {}
    lists: dict[str, int] = {}


class OfDialogue(Struct):
    """What ``dialogues.extra`` holds."""

    additional_context: Raw = Raw(b"null")


class OfTurn(Struct):
    """What ``turns.extra`` holds: a flag that is not that of the worker whose turn it is."""

    who: Raw


class Taken(Struct):
    """What ``annotations.extra`` holds."""

    text: str


def episode(published: StoredRecord) -> bytes:
    """Build one episode: first as the tables have it, then with what this record states differently."""
    record = published.record
    assert record is not None and record.extra is not None  # noqa: S101, PT018 - the reader gave it its fields
    extra = decode.decoder(Extra).decode(record.extra)
    value: dict[str, Any] = {
        "personas": _personas(published, extra),
        **_of_dialogue(published),
        "suggestions": _suggestions(published),
        **_chosen(published),
        "label_candidates": _label_candidates(published, extra),
        **extra.carried,
    }
    for place, piece in extra.differs.items():
        _put(value, place, piece)
    known = {key: value[key] if key in value else extra.unknown[decode.pointer(key)] for key in extra.fields}
    return msgspec.json.encode(known)


def _personas(published: StoredRecord, extra: Extra) -> list[list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for use in published.persona_uses:
        found[use.persona_set].append(published.personas[use.persona_id].text)
    size = extra.lists.get(decode.pointer("personas"), _last_persona(found) + 1)
    return [found[name] for name in (*WORKERS, *(f"persona_{number}" for number in range(len(WORKERS), size)))]


def _last_persona(found: dict[str, list[str]]) -> int:
    return max((int(name.rpartition("_")[2]) for name in found if name not in WORKERS), default=len(WORKERS) - 1)


def _of_dialogue(published: StoredRecord) -> dict[str, Any]:
    dialogue, turns = published.dialogue, published.turns
    assert dialogue is not None  # noqa: S101 - an episode is a dialogue
    said = [
        [decode.decoder(OfTurn).decode(turn.extra).who if turn.extra else index % 2, turn.text]
        for index, turn in enumerate(turns[SEEDS:])
    ]
    return {
        "context_dataset": dialogue.domain,
        "additional_context": decode.decoder(OfDialogue).decode(dialogue.extra or "{}").additional_context,
        "free_turker_utterance": turns[0].text,
        "guided_turker_utterance": turns[1].text,
        "dialog": said,
    }


def _suggestions(published: StoredRecord) -> list[Any]:
    by_turn = _by_turn(published, SUGGESTIONS)
    found = []
    for turn in published.turns[SEEDS:]:
        texts = {row.source: published.texts[row.text_id or ""] for row in by_turn[turn.turn_index]}
        found.append({model: texts[model] for model in MODELS} if texts else {})
    return found


def _chosen(published: StoredRecord) -> dict[str, list[str]]:
    rows: dict[int | None, Annotation] = {row.turn_index: row for row in published.annotations if row.scheme == CHOSEN}
    labels, texts = [], []
    for turn in published.turns[SEEDS:]:
        row = rows.get(turn.turn_index)
        labels.append(row.label or "" if row else "")
        texts.append(decode.decoder(Taken).decode(row.extra).text if row and row.extra else "")
    return {"chosen_suggestions": labels, "chosen_suggestion_texts": texts}


def _label_candidates(published: StoredRecord, extra: Extra) -> list[Any]:
    by_turn = _by_turn(published, LABELS)
    answers = [turn.turn_index for turn in published.turns[SEEDS + 1 :: 2]]
    lists: list[Any] = [[published.texts[row.text_id or ""] for row in by_turn[turn]] for turn in answers]
    return [*lists, *extra.beyond.values()]


def _by_turn(published: StoredRecord, name: str) -> defaultdict[int | None, list[Candidate]]:
    found: defaultdict[int | None, list[Candidate]] = defaultdict(list)
    for row in published.candidates:
        if row.candidate_set == name:
            found[row.turn_index].append(row)
    return found


def _put(value: dict[str, Any], place: str, piece: Raw) -> None:
    """Put a piece at its pointer; the keys and positions of an episode need no unescaping."""
    *path, last = place.split("/")[1:]
    parent: Any = value
    for token in path:
        parent = parent[int(token)] if isinstance(parent, list) else parent[token]
    parent[int(last) if isinstance(parent, list) else last] = piece
