"""An episode to rows: the conversation with its seeds, personas, suggestions, label candidates."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from ingest import decode
from ingest.corpora.blended_skill_talk.episode import Talk
from ingest.corpora.blended_skill_talk.library import Library
from ingest.corpora.blended_skill_talk.names import CHOSEN, CORPUS, LABELS, MODELS, SEEDS, SUGGESTIONS, WORKERS
from ingest.decode import pointer
from ingest.rows import (
    Annotation,
    Candidate,
    ColumnBatch,
    Dialogue,
    Participant,
    PersonaUse,
    Record,
    Row,
    Speaker,
    Turn,
)


def conversation(dialogue_id: str, talk: Talk) -> Iterator[Row]:
    """Give the dialogue, its two workers, and its turns, the seeds first."""
    episode = talk.episode
    is_topic = episode.context_dataset == "wizard_of_wikipedia"
    extra = {} if episode.additional_context is UNSET else {"additional_context": episode.additional_context}
    yield Dialogue(
        dialogue_id=dialogue_id,
        corpus_id=CORPUS,
        domain=episode.context_dataset,
        title=talk.topic if is_topic else None,
        language="en",
        extra=decode.dump(extra),
    )
    for worker in WORKERS:
        yield Speaker(speaker_id(dialogue_id, worker), CORPUS, None, None, "human", is_anonymous=True)
        yield Participant(dialogue_id, speaker_id(dialogue_id, worker), worker)
    yield _turn(dialogue_id, 0, episode.free_turker_utterance, "seed")
    yield _turn(dialogue_id, 1, episode.guided_turker_utterance, "seed")
    for index, said in enumerate(talk.turns):
        yield _turn(dialogue_id, index + SEEDS, said.text, "message", _odd_flag(index, said.flag))


def of_record(record: Record, talk: Talk, library: Library) -> Iterator[Row]:
    """Give what an episode says beside its words: personas, suggestions, and what was taken."""
    yield from _personas(record, talk, library)
    for index in range(len(talk.turns)):
        yield from _suggestions(record, talk, index, library)
        yield from _chosen(record, talk, index)


def label_candidates(record: Record, talk: Talk, library: Library) -> tuple[list[Row], list[ColumnBatch]]:
    """Give the lists of label candidates: new texts, and all uses with whether they are the label."""
    published = talk.episode.label_candidates
    if published is UNSET:
        return [], []
    lists = [(answer_turn(entry), published[entry]) for entry in range(talk.entries)]
    golds = (text == talk.turns[turn - SEEDS].text for turn, texts in lists for text in texts)
    return library.candidates(record, LABELS, lists, golds)


def stated(talk: Talk) -> dict[str, Any]:
    """Give everything that hangs on the dialogue beside its words, by pointer."""
    episode = talk.episode
    found: dict[str, Any] = {"/context_dataset": episode.context_dataset}
    if episode.additional_context is not UNSET:
        found["/additional_context"] = episode.additional_context
    for index, said in enumerate(talk.turns):
        found[pointer("dialog", index, 0)] = Raw(said.flag)
    return found


def words(talk: Talk) -> Iterator[str]:
    """Give what makes a conversation this one: who says what, in order."""
    episode = talk.episode
    yield from (episode.free_turker_utterance, episode.guided_turker_utterance)
    yield from (said.text for said in talk.turns)


def beside(talk: Talk) -> dict[str, Any]:
    """Give what an episode has that no row holds: order of keys, unread fields, lists that no row tells of."""
    return {
        "fields": talk.fields,
        "carried": talk.carried,
        "unknown": talk.unknown,
        "beyond": _beyond(talk),
        "lists": _sizes(talk),
    }


def _beyond(talk: Talk) -> dict[str, list[str]]:
    """Give the lists of label candidates that belong to no entry, by pointer."""
    lists = talk.episode.label_candidates
    if lists is UNSET:
        return {}
    return {pointer("label_candidates", index): lists[index] for index in range(talk.entries, len(lists))}


def _sizes(talk: Talk) -> dict[str, int]:
    """Give how many personas there are, by pointer, where the last one is nobody's and has no sentence to tell it."""
    personas = talk.episode.personas
    return {pointer("personas"): len(personas)} if len(personas) > len(WORKERS) and not personas[-1] else {}


def speaker_id(dialogue_id: str, worker: str) -> str:
    """Give the key of a worker, who is known only within the dialogue."""
    return f"{dialogue_id}/{worker}"


def answer_turn(entry: int) -> int:
    """Give the turn of the guided worker's answer in an entry."""
    return SEEDS + 2 * entry + 1


def shown(orders: Raw | None, index: int) -> list[str]:
    """Give the models in the order in which a turn's suggestions were shown; as ParlAI names them where unknown."""
    try:
        lists = decode.decoder(list[Any]).decode(orders) if orders is not None else []
    except msgspec.ValidationError:
        lists = []
    order = lists[index].split(",") if index < len(lists) and isinstance(lists[index], str) else []
    return order if sorted(order) == sorted(MODELS) else list(MODELS)


def _odd_flag(index: int, flag: bytes) -> str | None:
    """Keep a flag that is not that of the worker whose turn it is."""
    return None if flag == str(index % 2).encode() else decode.dump({"who": Raw(flag)})


def _turn(dialogue_id: str, index: int, text: str, kind: str, extra: str | None = None) -> Turn:
    worker = WORKERS[index % 2]
    return Turn(dialogue_id, index, speaker_id(dialogue_id, worker), worker, kind, text, extra=extra)


def _personas(record: Record, talk: Talk, library: Library) -> Iterator[Row]:
    dialogue_id = record.dialogue_id or ""
    for number, sentences in enumerate(talk.episode.personas):
        owner = WORKERS[number] if number < len(WORKERS) else None
        rows: list[Row] = []
        for position, text in enumerate(sentences):
            persona_id = library.persona(text, rows)
            speaker = speaker_id(dialogue_id, owner) if owner else None
            name = owner or f"persona_{number}"
            rows.append(PersonaUse(record.record_id, None, name, position, dialogue_id, persona_id, speaker))
        yield from rows


def _suggestions(record: Record, talk: Talk, index: int, library: Library) -> Iterator[Row]:
    """Give the three suggestions for a turn; their position is that in which they were shown."""
    texts = talk.suggestions[index]
    if not texts:
        return
    if list(texts) != list(MODELS):
        talk.differs.setdefault(pointer("suggestions", index), talk.episode.suggestions[index])
    rows: list[Row] = []
    for position, model in enumerate(shown(talk.carried.get("suggestion_orders"), index)):
        text_id = library.texts.id(texts[model], rows)
        rows.append(
            Candidate(
                record_id=record.record_id,
                turn_index=index + SEEDS,
                candidate_set=SUGGESTIONS,
                position=position,
                item_index=0,
                dialogue_id=record.dialogue_id,
                text_id=text_id,
                source=model,
            )
        )
    yield from rows


def _chosen(record: Record, talk: Talk, index: int) -> Iterator[Row]:
    """Give which suggestion was taken: on every turn of the guided worker, on others where something stands there."""
    label, text = talk.chosen[index], talk.chosen_texts[index]
    if index % 2 == 0 and not label:
        return
    yield Annotation(
        record_id=record.record_id,
        turn_index=index + SEEDS,
        persona_set=None,
        persona_position=None,
        scheme=CHOSEN,
        annotator_index=0,
        item_index=0,
        dialogue_id=record.dialogue_id,
        persona_id=None,
        annotator_id=None,
        label=label,
        extra=decode.dump({"text": text}) if text else None,
    )
