"""Which file is what, by its name and folder; and its records, one by one."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Raw

from ingest import decode, json_members
from ingest.corpora.blended_skill_talk.format import SPLITS
from ingest.decode import BadRecord, pointer
from ingest.input_files import InputFile
from ingest.outcomes import FileEnvelope, Loaded, Outcome, SourceLocation, reject
from ingest.rows import Record
from ingest.sources import SourceFile
from ingest.stored_record import StoredRecord

T = TypeVar("T")

EPISODES = "episodes"
PERSONA_LIST = "persona_list"
TOPICS = "topic_to_persona_list"
SAFE_PERSONAS = "safe_personas"
ED = "ed_persona_topicifier"
HUMAN_ANNOTATIONS = "human_annotations"
CONVAI2 = "convai2"
WIZARD = "wizard_of_wikipedia"
"""The subsets, one for each kind of file."""

_EPISODES = re.compile(r"(train|valid|test)\.json")
_ED = re.compile(r"ed_persona_topicifier__(train|valid|test)__(both_sides|experiencer_only)\.json")
_CONVAI2 = re.compile(r"(train|valid)_self_original\.txt")
_WIZARD = re.compile(r"(?:(train)|(valid|test)_(random_split|topic_split))\.json")
_OTHERS = {
    "persona_list.txt": PERSONA_LIST,
    "personas_list.txt": PERSONA_LIST,
    "topic_to_persona_list.txt": TOPICS,
    "safe_personas.txt": SAFE_PERSONAS,
    "safe_personas_2.txt": SAFE_PERSONAS,
    "human_annotations.json": HUMAN_ANNOTATIONS,
}
"""Names on disk; the publisher's server has two of the files under other names."""


def location_of(file: SourceFile) -> SourceLocation | None:
    """Return a file's location with its subset, split and variant; None where the corpus has no such file."""
    folders = {part.lower() for part in file.path.parts[1:-1]}
    subset, split, release = _OTHERS.get(file.name), None, None
    if WIZARD in folders:
        found = _WIZARD.fullmatch(file.name)
        subset, split, release = (WIZARD, found[1] or found[2], found[3]) if found else (None, None, None)
    elif CONVAI2 in folders:
        found = _CONVAI2.fullmatch(file.name)
        subset, split = (CONVAI2, found[1]) if found else (None, None)
    elif found := _EPISODES.fullmatch(file.name):
        subset, split = EPISODES, found[1]
    elif found := _ED.fullmatch(file.name):
        subset, split, release = ED, found[1], found[2]
    elif subset == HUMAN_ANNOTATIONS:
        split = "valid"
    return SourceLocation(file, subset=subset, release=release, split=split, size=file.size) if subset else None


def read_json_list(
    input_file: InputFile, raw: bytes, read_record: Callable[[SourceLocation, bytes], Loaded]
) -> Iterator[Outcome]:
    """Read a JSON list item by item; raises BadRecord where the file is none."""
    pieces = json_members.items(raw)
    yield FileEnvelope(input_file.file, {"shape": "list"}, len(pieces))
    yield from read_records(input_file, pieces, read_record)


def read_lines(
    input_file: InputFile, text: str, records: list[str], read_record: Callable[[SourceLocation, bytes], Loaded]
) -> Iterator[Outcome]:
    """Read the records of a text file, each of which is one line or several."""
    is_open = bool(text) and not text.endswith("\n")
    yield FileEnvelope(input_file.file, {"shape": "lines", "lacks_final_newline": is_open}, len(records))
    yield from read_records(input_file, map(str.encode, records), read_record)


def read_records(
    input_file: InputFile, pieces: Iterable[bytes | Raw], read_record: Callable[[SourceLocation, bytes], Loaded]
) -> Iterator[Outcome]:
    """Read one record after the other; a bad one is rejected alone."""
    for index, piece in enumerate(pieces):
        raw = bytes(piece)
        location = input_file.record_location(index, pointer(index), len(raw))
        try:
            decode.text(raw)  # fields that nothing decodes have to be UTF-8 too
            yield read_record(location, raw)
        except BadRecord as bad:
            yield reject(location, bad, raw)


def lines_of(text: str) -> list[str]:
    """Split a text file into its lines."""
    return text.removesuffix("\n").split("\n") if text else []


def record_at(
    location: SourceLocation, input_file: InputFile, extra: Mapping[str, Any], dialogue_id: str | None = None
) -> Record:
    """Make the row of a record."""
    return location.record(
        f"{input_file.prefix}/{location.record_index}",
        dialogue_id,
        standard_split=SPLITS.get(location.split or ""),
        extra={**extra, "repeats": input_file.repeats},
    )


def extra_of(stored: StoredRecord, kind: type[T]) -> T:
    """Decode ``records.extra``."""
    extra: T = decode.decoder(kind).decode(stored.loaded.extra or "{}")
    return extra


def texts_at(stored: StoredRecord, turn_index: int) -> list[str]:
    """List the candidate texts of a turn."""
    return [stored.texts[row.text_id or ""] for row in stored.candidates if row.turn_index == turn_index]
