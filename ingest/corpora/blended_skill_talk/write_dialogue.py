"""The rows of a dialogue back to its episode, with keys in published order."""

from collections import defaultdict
from typing import Any

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.corpora.blended_skill_talk.format import CHOSEN, LABELS, MODELS, SEEDS, SUGGESTIONS, WORKERS
from talkhouse.ingest.corpora.blended_skill_talk.records import extra_of
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Annotation, Candidate
from talkhouse.ingest.stored_record import StoredRecord


class _RecordExtra(Struct):
    """What ``records.extra`` of an episode holds."""

    fields: list[str]
    carried: dict[str, Raw] = {}
    differs: dict[str, Raw] = {}
    unknown: dict[str, Raw] = {}
    beyond: dict[str, Raw] = {}
    lists: dict[str, int] = {}


def write_dialogue(stored: StoredRecord) -> bytes:
    """Return the JSON of one episode: first as the tables have it, then with what this record states differently."""
    extra = extra_of(stored, _RecordExtra)
    value: dict[str, Any] = {
        "personas": _personas(stored, extra),
        **_of_dialogue(stored),
        "suggestions": _suggestions(stored),
        **_chosen(stored),
        "label_candidates": _label_candidates(stored, extra),
        **extra.carried,
    }
    for at, piece in extra.differs.items():
        _put(value, at, piece)
    known = {key: value[key] if key in value else extra.unknown[pointer(key)] for key in extra.fields}
    return msgspec.json.encode(known)


def _personas(stored: StoredRecord, extra: _RecordExtra) -> list[list[str]]:
    persona_sets: defaultdict[str, list[str]] = defaultdict(list)
    for use in stored.persona_uses:
        persona_sets[use.persona_set].append(stored.personas[use.persona_id].text)
    size = extra.lists.get(pointer("personas"), _last_persona(persona_sets) + 1)
    return [persona_sets[name] for name in (*WORKERS, *(f"persona_{number}" for number in range(len(WORKERS), size)))]


def _last_persona(persona_sets: dict[str, list[str]]) -> int:
    return max((int(name.rpartition("_")[2]) for name in persona_sets if name not in WORKERS), default=len(WORKERS) - 1)


def _of_dialogue(stored: StoredRecord) -> dict[str, Any]:
    dialogue, turns = stored.dialogue, stored.turns
    assert dialogue is not None  # noqa: S101 - an episode is a dialogue
    dialog = [[literals(turn.extra).get("who", index % 2), turn.text] for index, turn in enumerate(turns[SEEDS:])]
    return {
        "context_dataset": dialogue.domain,
        "additional_context": literals(dialogue.extra).get("additional_context"),
        "free_turker_utterance": turns[0].text,
        "guided_turker_utterance": turns[1].text,
        "dialog": dialog,
    }


def _suggestions(stored: StoredRecord) -> list[Any]:
    by_turn = _by_turn(stored, SUGGESTIONS)
    suggestions = []
    for turn in stored.turns[SEEDS:]:
        texts = {row.source: stored.texts[row.text_id or ""] for row in by_turn[turn.turn_index]}
        suggestions.append({model: texts[model] for model in MODELS} if texts else {})
    return suggestions


def _chosen(stored: StoredRecord) -> dict[str, list[Any]]:
    rows: dict[int | None, Annotation] = {row.turn_index: row for row in stored.annotations if row.scheme == CHOSEN}
    labels: list[str] = []
    texts: list[Raw | str] = []
    for turn in stored.turns[SEEDS:]:
        row = rows.get(turn.turn_index)
        labels.append(row.label or "" if row else "")
        texts.append(literals(row.extra if row else None).get("text", ""))
    return {"chosen_suggestions": labels, "chosen_suggestion_texts": texts}


def _label_candidates(stored: StoredRecord, extra: _RecordExtra) -> list[Any]:
    by_turn = _by_turn(stored, LABELS)
    answers = [turn.turn_index for turn in stored.turns[SEEDS + 1 :: 2]]
    lists: list[Any] = [[stored.texts[row.text_id or ""] for row in by_turn[turn]] for turn in answers]
    return [*lists, *extra.beyond.values()]


def _by_turn(stored: StoredRecord, name: str) -> defaultdict[int | None, list[Candidate]]:
    by_turn: defaultdict[int | None, list[Candidate]] = defaultdict(list)
    for row in stored.candidates:
        if row.candidate_set == name:
            by_turn[row.turn_index].append(row)
    return by_turn


def _put(value: dict[str, Any], at: str, piece: Raw) -> None:
    """Put a piece at its pointer; the keys and positions of an episode need no unescaping."""
    *path, last = at.split("/")[1:]
    parent: Any = value
    for token in path:
        parent = parent[int(token)] if isinstance(parent, list) else parent[token]
    parent[int(last) if isinstance(parent, list) else last] = piece
