"""Wizard of Wikipedia in the format that ParlAI publishes, read as its WizardDialogKnowledgeTeacher does."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ingest import decode
from ingest.corpora.blended_skill_talk.given import Given
from ingest.corpora.blended_skill_talk.names import EPISODE
from ingest.decode import BadRecord, pointer
from ingest.json_members import Member
from ingest.outcomes import Loaded, Outcome, reject
from ingest.rows import Candidate, Record


class Turn(Struct):
    """What the teacher reads of a turn."""

    speaker: str
    text: str


class Episode(Struct):
    """What the teacher reads of an episode; the whole of it is kept in one piece."""

    dialog: list[Turn]
    chosen_topic: str = ""


def episode(given: Given, index: int, member: Member) -> Outcome:
    """Read one episode: its entries, and the JSON as published."""
    place = given.place(index, pointer(index), len(member.raw))
    try:
        text = member.raw.decode()
        found = decode.decoder(Episode).decode(member.raw)
        if not found.dialog:
            raise BadRecord("BS-09", "an episode without turns", "/dialog")
    except msgspec.ValidationError as error:
        return reject(place, decode.shape_problem(error, "BS-09"), member.raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return reject(place, decode.json_problem(member.raw, error), member.raw)
    except BadRecord as bad:
        return reject(place, bad, member.raw)
    record: Record = given.record(index, pointer(index), {"entries": list(entries(found))})
    whole = Candidate(record.record_id, None, EPISODE, 0, 0, None, None, extra=text)
    return Loaded(place, [record, whole])


def entries(found: Episode) -> Iterator[dict[str, Any]]:
    """Give the entries: an answer of the wizard after what the apprentice said.

    The first has the topic on a line of its own; where the wizard begins it has nothing else, and the last turn
    is left out as ParlAI does by default.
    """
    turns = found.dialog
    wizard_first = "Wizard" in turns[0].speaker
    count = (len(turns) - 1) // 2 if wizard_first else len(turns) // 2
    for number in range(count):
        answer = 2 * number if wizard_first else 2 * number + 1
        before = turns[answer - 1].text if answer else None
        lines = [found.chosen_topic] if number == 0 else []
        lines += [] if before is None else [before]
        yield {"text": "\n".join(lines), "labels": [turns[answer].text]}
