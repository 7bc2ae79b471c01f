"""Files to rows: episodes are dialogues with personas, suggestions and candidates; all else is other records."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk import format as layout
from talkhouse.ingest.corpora.blended_skill_talk import other_files
from talkhouse.ingest.corpora.blended_skill_talk.human_annotations import ValidationDialogue, read_human_annotations
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts, read_json_list, record_at
from talkhouse.ingest.corpora.blended_skill_talk.warnings import answer_turn, warnings
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile, InputFiles
from talkhouse.ingest.keys import Keys, Restatements, digest
from talkhouse.ingest.outcomes import Loaded, Outcome, ReaderFinding, SourceLocation, Unrecognised, reject
from talkhouse.ingest.rows import Candidate, ColumnBatch, Dialogue, Participant, Record, Row, Speaker, Turn
from talkhouse.ingest.sources import SourceFile


class AddedDialogue(NamedTuple):
    """The dialogue of an episode."""

    dialogue_id: str
    rows: list[Row]
    """Empty if an earlier episode has the same dialogue."""
    findings: list[ReaderFinding]


class EpisodeDialogues:
    """All dialogues of a build; keys and hashes are held, never texts."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._restatements = Restatements()

    def add(self, natural: str, parsed: layout.ParsedEpisode) -> AddedDialogue:
        """Return a dialogue, with its rows if it is new, and a finding if its words are not the plain key's."""
        seeds = (parsed.episode.free_turker_utterance, parsed.episode.guided_turker_utterance)
        words = digest(*seeds, *(turn.text for turn in parsed.turns))
        dialogue_id, is_new = self._keys.assign(natural, words)
        if not is_new:
            return AddedDialogue(dialogue_id, [], [])
        rows = list(_dialogue_rows(dialogue_id, parsed))
        if dialogue_id == natural:
            return AddedDialogue(dialogue_id, rows, [])
        detail = f"other words than the earlier {natural}; kept as {dialogue_id}"
        return AddedDialogue(dialogue_id, rows, [ReaderFinding("BS-10", detail)])

    def differing(self, dialogue_id: str, parsed: layout.ParsedEpisode) -> dict[str, Any]:
        """Return, by pointer, what the rows of the dialogue and of its record would not give back."""
        restated = self._restatements.differing(dialogue_id, _stated(parsed))
        no_pairs = {pointer("dialog", i): turn.item for i, turn in enumerate(parsed.turns) if turn.item is not None}
        return {**restated, **parsed.differs, **no_pairs}


Read = Callable[[InputFile, bytes, UniqueTexts], Iterator[Outcome]]
"""Reads a file of one kind; raises BadRecord, before anything else, where the whole file is rejected."""

_READERS: dict[str, Read] = {
    layout.PERSONA_LIST: other_files.read_persona_list,
    layout.TOPICS: other_files.read_topics,
    layout.SAFE_PERSONAS: other_files.read_safe_personas,
    layout.ED: other_files.read_ed,
    layout.CONVAI2: other_files.read_convai2,
    layout.WIZARD: other_files.read_wow,
}


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order, but what is about turns of the validation set after that."""
    input_files, texts = InputFiles(layout.CORPUS), UniqueTexts()
    validation: dict[int, ValidationDialogue] = {}
    readers = _READERS | {
        layout.EPISODES: partial(_episodes, dialogues=EpisodeDialogues(), validation=validation),
        layout.HUMAN_ANNOTATIONS: partial(read_human_annotations, dialogues=validation),
    }
    located = [(file, layout.location_of(file)) for file in files]
    for file, location in sorted(
        located, key=lambda item: item[1] is not None and item[1].subset == layout.HUMAN_ANNOTATIONS
    ):
        if location is None:
            yield Unrecognised(file, "its name and folder are those of no file of this corpus that is read")
            continue
        kind = "/".join(part for part in (location.subset, location.release, location.split) if part)
        input_file = input_files.take(location, kind)
        yield from input_file.findings("BS-10", makes="the examples and lists")
        raw = file.read()
        try:
            yield from readers[location.subset or ""](input_file, raw, texts)
        except BadRecord as bad:
            input_files.drop(input_file)
            yield reject(location, bad, raw)


def _episodes(
    input_file: InputFile,
    raw: bytes,
    texts: UniqueTexts,
    dialogues: EpisodeDialogues,
    validation: dict[int, ValidationDialogue],
) -> Iterator[Outcome]:
    """Read the episodes of a file, and remember those of the validation set by their places in it.

    Raises BadRecord BS-01 where the reference code would refuse the file.
    """
    _check_lengths(json_members.items(raw))
    is_validation = layout.SPLITS.get(input_file.location.split or "") == "validation" and not input_file.repeats
    for outcome in read_json_list(input_file, raw, partial(_read_episode, input_file, texts, dialogues)):
        if isinstance(outcome, Loaded) and is_validation:
            record = next(row for row in outcome.rows if isinstance(row, Record))
            turns = [digest(row.text) for row in outcome.rows if isinstance(row, Turn)][layout.SEEDS :]
            validation[record.record_index] = ValidationDialogue(record.dialogue_id or "", turns)
        yield outcome


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


def _read_episode(
    input_file: InputFile, texts: UniqueTexts, dialogues: EpisodeDialogues, location: SourceLocation, raw: bytes
) -> Loaded:
    parsed = layout.parse(raw)
    natural = f"{layout.CORPUS}:{location.split}:{location.record_index}"
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


def _personas(record: Record, parsed: layout.ParsedEpisode, texts: UniqueTexts) -> Iterator[Row]:
    for number, sentences in enumerate(parsed.episode.personas):
        owner = layout.WORKERS[number] if number < len(layout.WORKERS) else None
        speaker = speaker_id(record.dialogue_id or "", owner) if owner else None
        yield from texts.persona_uses(record, owner or f"persona_{number}", sentences, speaker)


def _suggestions(
    record: Record, parsed: layout.ParsedEpisode, index: int, shown: list[str], texts: UniqueTexts
) -> Iterator[Row]:
    """List the three suggestions for a turn in the order ``shown``; as ParlAI names them where that is not known."""
    suggested = parsed.suggestions[index]
    if not suggested:
        return
    rows: list[Row] = []
    for position, model in enumerate(shown or layout.MODELS):
        text_id = texts.texts.id(suggested[model], rows)
        rows.append(
            Candidate(
                record_id=record.record_id,
                turn_index=index + layout.SEEDS,
                candidate_set=layout.SUGGESTIONS,
                position=position,
                item_index=0,
                dialogue_id=record.dialogue_id,
                text_id=text_id,
                source=model,
                extra=None if shown else '{"is_order_known":false}',
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
    """List the models in the order in which a turn's suggestions were shown; none where that is not known."""
    order = lists[index].split(",") if index < len(lists) and isinstance(lists[index], str) else []
    return order if sorted(order) == sorted(layout.MODELS) else []


def _chosen(record: Record, parsed: layout.ParsedEpisode, index: int) -> Iterator[Row]:
    """Return the suggestion that was taken: on every turn of the guided worker, on others if the episode names one."""
    label, text = parsed.chosen[index], parsed.chosen_texts[index]
    if index % 2 or label:
        yield record.annotation(
            index + layout.SEEDS, layout.CHOSEN, label, extra=decode.dump({"text": text}) if text else None
        )


def _label_candidates(
    record: Record, parsed: layout.ParsedEpisode, texts: UniqueTexts
) -> tuple[list[Row], list[ColumnBatch]]:
    """Return the lists of label candidates: new texts, and all uses with whether they are the label."""
    published = parsed.episode.label_candidates
    if published is UNSET:
        return [], []
    lists = [(answer_turn(entry), published[entry]) for entry in range(parsed.entries)]
    golds = (text == parsed.turns[turn - layout.SEEDS].text for turn, some in lists for text in some)
    return texts.candidates(record, layout.LABELS, lists, golds)


def _extra(parsed: layout.ParsedEpisode) -> dict[str, Any]:
    """Return facts that no row holds: order of keys, unread fields, lists without an entry, the count of personas."""
    personas, candidates = parsed.episode.personas, parsed.episode.label_candidates
    lists = [] if candidates is UNSET else candidates
    # A last persona that is nobody's and has no sentence is in no row.
    has_empty_last = len(personas) > len(layout.WORKERS) and not personas[-1]
    return {
        "fields": parsed.fields,
        "carried": parsed.carried,
        "unknown": parsed.unknown,
        "beyond": {pointer("label_candidates", index): lists[index] for index in range(parsed.entries, len(lists))},
        "lists": {pointer("personas"): len(personas)} if has_empty_last else {},
    }


def speaker_id(dialogue_id: str, worker: str) -> str:
    """Return the key of a worker, who is known only within the dialogue."""
    return f"{dialogue_id}/{worker}"


def _dialogue_rows(dialogue_id: str, parsed: layout.ParsedEpisode) -> Iterator[Row]:
    episode = parsed.episode
    is_topic = episode.context_dataset == "wizard_of_wikipedia"
    extra = {} if episode.additional_context is UNSET else {"additional_context": episode.additional_context}
    yield Dialogue(
        dialogue_id=dialogue_id,
        corpus_id=layout.CORPUS,
        domain=episode.context_dataset,
        title=parsed.topic if is_topic else None,
        language="en",
        extra=decode.dump(extra),
    )
    for worker in layout.WORKERS:
        yield Speaker(speaker_id(dialogue_id, worker), layout.CORPUS, None, None, "human", is_anonymous=True)
        yield Participant(dialogue_id, speaker_id(dialogue_id, worker), worker)
    yield _turn_row(dialogue_id, 0, episode.free_turker_utterance, "seed")
    yield _turn_row(dialogue_id, 1, episode.guided_turker_utterance, "seed")
    for index, turn in enumerate(parsed.turns):
        is_usual = turn.flag == str(index % 2).encode()
        who = None if is_usual else decode.dump({"who": Raw(turn.flag)})
        yield _turn_row(dialogue_id, index + layout.SEEDS, turn.text, "message", who)


def _turn_row(dialogue_id: str, index: int, text: str, kind: str, extra: str | None = None) -> Turn:
    worker = layout.WORKERS[index % 2]
    return Turn(dialogue_id, index, speaker_id(dialogue_id, worker), worker, kind, text, extra=extra)


def _stated(parsed: layout.ParsedEpisode) -> dict[str, Any]:
    """Return, by pointer, the facts about the dialogue other than its words."""
    episode = parsed.episode
    facts: dict[str, Any] = {"/context_dataset": episode.context_dataset}
    if episode.additional_context is not UNSET:
        facts["/additional_context"] = episode.additional_context
    for index, turn in enumerate(parsed.turns):
        facts[pointer("dialog", index, 0)] = Raw(turn.flag)
    return facts
