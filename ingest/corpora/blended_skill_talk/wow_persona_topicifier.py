"""Wizard of Wikipedia in the format that ParlAI publishes, read as its WizardDialogKnowledgeTeacher does."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.records import UniqueTexts, read_json_list, record_at
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation
from talkhouse.ingest.rows import Candidate
from talkhouse.ingest.stored_record import StoredRecord

_EPISODE = "episode"
"""A candidate set that is no list of answers: its one item holds the whole episode."""


class _Turn(Struct):
    """What the teacher reads of a turn."""

    speaker: str
    text: str


class _Episode(Struct):
    """What the teacher reads of an episode; the whole of it is kept in one piece."""

    dialog: list[_Turn]
    chosen_topic: str = ""


def read_wow(input_file: InputFile, raw: bytes, _: UniqueTexts) -> Iterator[Outcome]:
    """Read the episodes of a file."""
    return read_json_list(input_file, raw, partial(_episode, input_file))


def _episode(input_file: InputFile, location: SourceLocation, raw: bytes) -> Loaded:
    """Read one episode: its entries, and the JSON as published."""
    decode.check_depth(raw)
    try:
        episode = decode.decoder(_Episode).decode(raw)
    except msgspec.ValidationError as error:
        raise decode.shape_problem(error, "BS-09") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    if not episode.dialog:
        raise BadRecord("BS-09", "an episode without turns", "/dialog")
    record = record_at(location, input_file, {"entries": list(_entries(episode))})
    whole = Candidate(record.record_id, None, _EPISODE, 0, 0, None, None, extra=raw.decode())
    return Loaded(location, [record, whole])


def _entries(episode: _Episode) -> Iterator[dict[str, Any]]:
    """List the entries: an answer of the wizard after what the apprentice said.

    The first has the topic on a line of its own; where the wizard begins it has nothing else, and the last turn
    is left out as ParlAI does by default.
    """
    turns = episode.dialog
    wizard_first = "Wizard" in turns[0].speaker
    count = (len(turns) - 1) // 2 if wizard_first else len(turns) // 2
    for number in range(count):
        answer = 2 * number if wizard_first else 2 * number + 1
        before = turns[answer - 1].text if answer else None
        lines = [episode.chosen_topic] if number == 0 else []
        lines += [] if before is None else [before]
        yield {"text": "\n".join(lines), "labels": [turns[answer].text]}


def write_wow(stored: StoredRecord) -> bytes:
    """Return an episode as it was published."""
    return (stored.candidates[0].extra or "").encode()
