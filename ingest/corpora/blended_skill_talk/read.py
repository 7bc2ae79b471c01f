"""Files to rows: episodes are dialogues, everything else is records beside them."""

from collections.abc import Callable, Iterator
from functools import partial

from talkhouse.ingest.corpora.blended_skill_talk.episodes import Dialogues, read_episodes
from talkhouse.ingest.corpora.blended_skill_talk.format import (
    CONVAI2,
    CORPUS,
    ED,
    EPISODES,
    HUMAN_ANNOTATIONS,
    PERSONA_LIST,
    SAFE_PERSONAS,
    SPLITS,
    TOPICS,
    WIZARD,
    location_of,
)
from talkhouse.ingest.corpora.blended_skill_talk.human_annotations import ValidationTurns, read_human_annotations
from talkhouse.ingest.corpora.blended_skill_talk.persona_lists import read_persona_list, read_safe_personas, read_topics
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts
from talkhouse.ingest.corpora.blended_skill_talk.topicifiers import read_convai2, read_ed, read_wow
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFile, InputFiles
from talkhouse.ingest.outcomes import Loaded, Outcome, Unrecognised, reject
from talkhouse.ingest.rows import Record
from talkhouse.ingest.sources import SourceFile

Read = Callable[[InputFile, bytes, UniqueTexts], Iterator[Outcome]]
"""Reads a file of one kind; raises BadRecord, before anything else, where the whole file is rejected."""

_READERS: dict[str, Read] = {
    PERSONA_LIST: read_persona_list,
    TOPICS: read_topics,
    SAFE_PERSONAS: read_safe_personas,
    ED: read_ed,
    CONVAI2: read_convai2,
    WIZARD: read_wow,
}


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order, but what is about turns of the validation set after that."""
    input_files, texts, turns = InputFiles(CORPUS), UniqueTexts(), ValidationTurns()
    readers = _READERS | {
        EPISODES: partial(_episodes, dialogues=Dialogues(), turns=turns),
        HUMAN_ANNOTATIONS: partial(read_human_annotations, turns=turns),
    }
    located = [(file, location_of(file)) for file in files]
    for file, location in sorted(located, key=lambda one: one[1] is not None and one[1].subset == HUMAN_ANNOTATIONS):
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
    input_file: InputFile, raw: bytes, texts: UniqueTexts, dialogues: Dialogues, turns: ValidationTurns
) -> Iterator[Outcome]:
    """Read the episodes of a file, and remember those of the validation set."""
    for outcome in read_episodes(input_file, raw, texts, dialogues):
        if isinstance(outcome, Loaded) and SPLITS.get(outcome.location.split or "") == "validation":
            record = next(row for row in outcome.rows if isinstance(row, Record))
            turns.add(outcome.location.record_index or 0, record.dialogue_id or "", outcome.rows)
        yield outcome
