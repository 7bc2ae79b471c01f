"""The rows of plain dialogues and of their records, laid out as columns."""

import polars as pl

from talkhouse.ingest.corpora.mantis.conversations.people import People
from talkhouse.ingest.corpora.mantis.conversations.plain import utterances
from talkhouse.ingest.corpora.mantis.conversations.record import record_id
from talkhouse.ingest.corpora.mantis.conversations.rows import FLAGGED
from talkhouse.ingest.corpora.mantis.files import CORPUS, SPLITS, Role
from talkhouse.ingest.corpora.mantis.format import DIALOGUE_FIELDS, NAN
from talkhouse.ingest.decode import dump
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Turn

_TIME = "%Y-%m-%dT%H:%M:%S%.3f"


def column_batches(
    plain: pl.DataFrame, file_id: str, role: Role, site: str, people: People, rows: list[Row]
) -> list[ColumnBatch]:
    """Lay out plain dialogues, with their ``key`` and ``record_index``; adds the rows of new people."""
    split = role.split or ""
    dialogues = plain.with_columns(native_id=site + pl.col("key")).with_columns(
        started_at=pl.col("dialog_time").str.to_datetime(_TIME, time_unit="us"),
        dialogue_id=pl.format(f"{CORPUS}:{split}:{{}}", "native_id"),
        extra=pl.Series(FLAGGED).gather(plain["has_concatenated_utterances"]),
        record_id=record_id(role.subset, split, site) + pl.col("record_index").cast(pl.String),
        source_pointer="/" + pl.col("key"),
    )
    said = utterances(plain)
    cast = _cast(plain["category"], said.filter(pl.col("turn_index") < 2), people, rows)
    file = {"source_file_id": file_id, "subset": role.subset, "split": role.split, "standard_split": SPLITS.get(split)}
    own = dialogues.select("dialogue_id", "title", "native_id", "extra", "started_at", domain="category")
    records = dialogues.select("dialogue_id", "record_index", "record_id", "native_id", "source_pointer")
    ids, extra = dialogues["dialogue_id"], dump({"fields": DIALOGUE_FIELDS})
    return [
        ColumnBatch(Dialogue, {"corpus_id": CORPUS, "language": "en"}, own.to_dict()),
        ColumnBatch(Participant, {}, _participants(ids, cast).to_dict()),
        ColumnBatch(Record, {"corpus_id": CORPUS, "extra": extra, **file}, records.to_dict()),
        ColumnBatch(Turn, {"kind": "message"}, _turns(ids, said, cast).to_dict()),
    ]


def _cast(categories: pl.Series, said: pl.DataFrame, people: People, rows: list[Row]) -> pl.DataFrame:
    """Find who speaks: two people of each dialogue, user and agent, by the first two utterances; all have an id."""
    facts = zip(categories.gather(said["owner"]).to_list(), said["user_id"], said["user_name"], strict=True)
    cast = [
        people.person(str(number).encode(), NAN if name is None else name, domain, "", rows)
        for domain, number, name in facts
    ]
    literals = [f',"literals":{dump(person.literals)}' if person.literals else "" for person in cast]
    return pl.DataFrame({"speaker_id": [person.speaker_id for person in cast], "literals": literals})


def _participants(ids: pl.Series, cast: pl.DataFrame) -> pl.DataFrame:
    """List user and agent; somebody who answers themselves takes part once, as user."""
    users, agents = cast["speaker_id"].gather_every(2), cast["speaker_id"].gather_every(2, 1)
    pairs = pl.DataFrame({"dialogue_id": ids, "user": users, "agent": agents})
    user = pairs.select("dialogue_id", speaker_id="user", role=pl.lit("user"))
    agent = pairs.filter(pl.col("user") != pl.col("agent"))
    return pl.concat([user, agent.select("dialogue_id", speaker_id="agent", role=pl.lit("agent"))])


def _turns(ids: pl.Series, said: pl.DataFrame, cast: pl.DataFrame) -> pl.DataFrame:
    """Lay out the turns of two people who take turns."""
    is_agent = said["turn_index"].cast(pl.UInt32) % 2
    who = cast[said["owner"] * 2 + is_agent]
    return said.with_columns(who["literals"]).select(
        "turn_index",
        dialogue_id=ids.gather(said["owner"]),
        speaker_id=who["speaker_id"],
        role=pl.Series(["user", "agent"]).gather(is_agent),
        text="utterance",
        native_id="id",
        said_at=pl.col("utterance_time").str.to_datetime(_TIME, time_unit="us"),
        # Votes are digits, which JSON does not escape.
        extra=pl.concat_str(pl.lit('{"votes":"'), "votes", pl.lit('","is_answer":0'), "literals", pl.lit("}")),
    )
