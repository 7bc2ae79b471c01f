"""The episodes of the three splits to rows: each is a record with its dialogue, personas, suggestions, candidates."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk.dialogue import Dialogues, speaker_id
from talkhouse.ingest.corpora.blended_skill_talk.format import (
    CHOSEN,
    CORPUS,
    LABELS,
    MODELS,
    SEEDS,
    SUGGESTIONS,
    WORKERS,
    ParsedEpisode,
)
from talkhouse.ingest.corpora.blended_skill_talk.parse import parse
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts, read_json_list, record_at
from talkhouse.ingest.corpora.blended_skill_talk.warnings import answer_turn, warnings
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation
from talkhouse.ingest.rows import Candidate, ColumnBatch, Record, Row


def read_episodes(input_file: InputFile, raw: bytes, texts: UniqueTexts, dialogues: Dialogues) -> Iterator[Outcome]:
    """Read the episodes of a file; raises BadRecord BS-01 where the reference code would refuse the file."""
    _check_lengths(json_members.items(raw))
    yield from read_json_list(input_file, raw, partial(_episode, input_file, texts, dialogues))


class _Lengths(Struct):
    """The three lists whose lengths the reference code compares before anything else."""

    dialog: list[Raw] | UnsetType = UNSET
    suggestions: list[Raw] | UnsetType = UNSET
    chosen_suggestions: list[Raw] | UnsetType = UNSET


def _check_lengths(pieces: Iterable[Raw]) -> None:
    """Raise BadRecord BS-01 for the first episode whose three lists differ; any other defect is found later."""
    for index, piece in enumerate(pieces):
        try:
            episode = decode.decoder(_Lengths).decode(piece)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        lists = (episode.dialog, episode.suggestions, episode.chosen_suggestions)
        sizes = [len(some) for some in lists if some is not UNSET]
        if len(sizes) == len(lists) and len(set(sizes)) > 1:
            detail = "dialog has {} items, suggestions {}, chosen_suggestions {}".format(*sizes)
            raise BadRecord("BS-01", detail, pointer(index))


def _episode(
    input_file: InputFile, texts: UniqueTexts, dialogues: Dialogues, location: SourceLocation, raw: bytes
) -> Loaded:
    parsed = parse(raw)
    natural = f"{CORPUS}:{location.split}:{location.record_index}"
    dialogue_id, dialogue_rows, findings = dialogues.add(natural, parsed)
    extra = _extra(parsed) | {"differs": dialogues.differing(dialogue_id, parsed)}
    record = record_at(location, input_file, extra, dialogue_id)
    rows: list[Row] = [record, *dialogue_rows, *_personas(record, parsed, texts)]
    orders = _orders(parsed.carried.get("suggestion_orders"))
    for index in range(len(parsed.turns)):
        rows += _suggestions(record, parsed, index, _shown(orders, index), texts)
        rows += _chosen(record, parsed, index)
    new_texts, column_batches = _label_candidates(record, parsed, texts)
    rows += new_texts
    return Loaded(location, rows, [*warnings(parsed, raw, location.split), *findings], column_batches)


def _personas(record: Record, parsed: ParsedEpisode, texts: UniqueTexts) -> Iterator[Row]:
    for number, sentences in enumerate(parsed.episode.personas):
        owner = WORKERS[number] if number < len(WORKERS) else None
        speaker = speaker_id(record.dialogue_id or "", owner) if owner else None
        yield from texts.persona_uses(record, owner or f"persona_{number}", sentences, speaker)


def _suggestions(
    record: Record, parsed: ParsedEpisode, index: int, shown: list[str], texts: UniqueTexts
) -> Iterator[Row]:
    """List the three suggestions for a turn, in the order in which they were shown."""
    suggested = parsed.suggestions[index]
    if not suggested:
        return
    rows: list[Row] = []
    for position, model in enumerate(shown):
        text_id = texts.texts.id(suggested[model], rows)
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


def _orders(published: Raw | None) -> list[Any]:
    """Decode in which order suggestions were shown, turn by turn; nothing where that is no list."""
    try:
        return list(decode.decoder(list[Any]).decode(published)) if published is not None else []
    except msgspec.ValidationError:
        return []


def _shown(lists: list[Any], index: int) -> list[str]:
    """List the models in the order in which a turn's suggestions were shown; as ParlAI names them where unknown."""
    order = lists[index].split(",") if index < len(lists) and isinstance(lists[index], str) else []
    return order if sorted(order) == sorted(MODELS) else list(MODELS)


def _chosen(record: Record, parsed: ParsedEpisode, index: int) -> Iterator[Row]:
    """Tell which suggestion was taken: on every turn of the guided worker, on others where the episode names one."""
    label, text = parsed.chosen[index], parsed.chosen_texts[index]
    if index % 2 or label:
        yield record.annotation(index + SEEDS, CHOSEN, label, extra=decode.dump({"text": text}) if text else None)


def _label_candidates(record: Record, parsed: ParsedEpisode, texts: UniqueTexts) -> tuple[list[Row], list[ColumnBatch]]:
    """Return the lists of label candidates: new texts, and all uses with whether they are the label."""
    published = parsed.episode.label_candidates
    if published is UNSET:
        return [], []
    lists = [(answer_turn(entry), published[entry]) for entry in range(parsed.entries)]
    golds = (text == parsed.turns[turn - SEEDS].text for turn, some in lists for text in some)
    return texts.candidates(record, LABELS, lists, golds)


def _extra(parsed: ParsedEpisode) -> dict[str, Any]:
    """Return what no row holds: order of keys, unread fields, lists without an entry, the count of personas."""
    personas, candidates = parsed.episode.personas, parsed.episode.label_candidates
    lists = [] if candidates is UNSET else candidates
    # A last persona that is nobody's and has no sentence is in no row.
    has_empty_last = len(personas) > len(WORKERS) and not personas[-1]
    return {
        "fields": parsed.fields,
        "carried": parsed.carried,
        "unknown": parsed.unknown,
        "beyond": {pointer("label_candidates", index): lists[index] for index in range(parsed.entries, len(lists))},
        "lists": {pointer("personas"): len(personas)} if has_empty_last else {},
    }
