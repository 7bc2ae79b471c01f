"""The rows of plain dialogues and of their records, laid out as columns."""

from itertools import chain, repeat
from operator import attrgetter
from typing import NamedTuple

import polars as pl

from ingest.corpora.mantis.conversations.people import Person
from ingest.corpora.mantis.conversations.plain import PlainDialogue
from ingest.corpora.mantis.conversations.record import fields, record_id
from ingest.corpora.mantis.conversations.rows import FLAGGED
from ingest.corpora.mantis.conversations.times import moment
from ingest.corpora.mantis.files import CORPUS, SPLITS, Role
from ingest.corpora.mantis.format import DIALOGUE_FIELDS
from ingest.decode import dump
from ingest.rows import ColumnBatch, Dialogue, Participant, Record, Turn


class Keyed(NamedTuple):
    """A plain dialogue with its place among the others of its file, its key, and who speaks: user and agent."""

    place: int
    key: str
    dialogue_id: str
    dialogue: PlainDialogue
    cast: tuple[Person, Person]


def column_batches(plain: list[Keyed], file_id: str, role: Role) -> list[ColumnBatch]:
    """Lay out all rows of plain dialogues but for their speakers."""
    split = role.split or ""
    keys, ids = [one.key for one in plain], [one.dialogue_id for one in plain]
    dialogues = [one.dialogue for one in plain]
    dialogue_columns = {
        "dialogue_id": ids,
        "native_id": keys,
        "domain": [one.category for one in dialogues],
        "title": [one.title for one in dialogues],
        "started_at": [moment(one.dialog_time) for one in dialogues],
        "extra": [FLAGGED[one.has_concatenated_utterances] for one in dialogues],
    }
    record_columns = {
        "record_id": [record_id(role.subset, split, one.place) for one in plain],
        "dialogue_id": ids,
        "native_id": keys,
        "record_index": [one.place for one in plain],
        "source_pointer": [f"/{key}" for key in keys],
    }
    shared = {"subset": role.subset, "split": split, "standard_split": SPLITS[split], "source_file_id": file_id}
    shared |= {"corpus_id": CORPUS, "extra": fields(DIALOGUE_FIELDS)}
    return [
        ColumnBatch(Dialogue, {"corpus_id": CORPUS, "language": "en"}, dialogue_columns),
        ColumnBatch(Record, shared, record_columns),
        ColumnBatch(Participant, {}, _participants(plain)),
        ColumnBatch(Turn, {"kind": "message"}, _turns(plain)),
    ]


def _participants(plain: list[Keyed]) -> dict[str, list[str]]:
    """List user and agent; somebody who answers themselves takes part once, as user."""
    both = [one for one in plain if one.cast[0].speaker_id != one.cast[1].speaker_id]
    return {
        "dialogue_id": [one.dialogue_id for one in chain(plain, both)],
        "speaker_id": [one.cast[0].speaker_id for one in plain] + [one.cast[1].speaker_id for one in both],
        "role": ["user"] * len(plain) + ["agent"] * len(both),
    }


def _turns(plain: list[Keyed]) -> dict[str, pl.Series]:
    """Lay out the turns; user and agent take turns."""
    said = list(chain.from_iterable(one.dialogue.utterances for one in plain))
    sizes = [len(one.dialogue.utterances) for one in plain]
    owner = pl.Series(list(chain.from_iterable(map(repeat, range(len(plain)), sizes))), dtype=pl.UInt32)
    turn = pl.Series(list(chain.from_iterable(map(range, sizes))), dtype=pl.Int32)
    is_agent = (turn % 2).cast(pl.UInt32)
    speaker = owner * 2 + is_agent
    people = list(chain.from_iterable(one.cast for one in plain))
    literals = [f',"literals":{dump(person.literals)}' if person.literals else "" for person in people]
    texts = pl.DataFrame(
        {name: list(map(attrgetter(name), said)) for name in ("utterance", "utterance_time", "votes", "id")},
        schema=dict.fromkeys(("utterance", "utterance_time", "votes", "id"), pl.String),
    ).with_columns(literals=pl.Series(literals, dtype=pl.String).gather(speaker))
    return {
        "dialogue_id": pl.Series([one.dialogue_id for one in plain], dtype=pl.String).gather(owner),
        "turn_index": turn,
        "speaker_id": pl.Series([person.speaker_id for person in people], dtype=pl.String).gather(speaker),
        "role": pl.Series(["user", "agent"]).gather(is_agent),
        "text": texts["utterance"],
        "native_id": texts["id"],
        "said_at": texts["utterance_time"].str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="us"),
        "extra": texts.select(_EXTRA).to_series(),
    }


# Votes are digits, which JSON does not escape.
_EXTRA = pl.concat_str(pl.lit('{"votes":"'), "votes", pl.lit('","is_answer":0'), "literals", pl.lit("}"))
