"""The rows of usual dialogues, laid out as columns; and, where they are needed, their words as ``parse`` gives them."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ingest.corpora.mantis.layout import CORPUS, SPLITS, Role
from ingest.corpora.mantis.parse import Parsed, Spoken
from ingest.corpora.mantis.record import fields, key_of
from ingest.corpora.mantis.shapes import SPOKEN, TALK_FACTS
from ingest.corpora.mantis.talk import FLAGGED
from ingest.corpora.mantis.usual import FIELDS, Usual
from ingest.rows import Block, Dialogue, Participant, Record, Row, Turn

_IS_USER = pl.col("turn_index") % 2 == 0
_ROLE = pl.when(_IS_USER).then(pl.lit("user")).otherwise(pl.lit("agent"))


def blocks(usual: Usual, places: Sequence[int], keys: Sequence[str], role: Role, file_id: str) -> list[Block]:
    """Give the rows of usual dialogues, of which the speakers' keys are known; and of their records.

    ``places`` and ``keys`` are those of the file, for each dialogue of the batch.
    """
    split = role.split or ""
    chosen = usual.talks["place"]
    talks = usual.talks.with_columns(
        native_id=pl.Series(keys, dtype=pl.String).gather(chosen), record_index=pl.Series(places).gather(chosen)
    ).with_columns(
        dialogue_id=pl.format(f"{CORPUS}:{split}:{{}}", "native_id"),
        extra=pl.col("has_concatenated_utterances").replace_strict(dict(enumerate(FLAGGED))),
        record_id=pl.format(key_of(role.subset, split, "{}"), "record_index"),
        source_pointer="/" + pl.col("native_id"),
    )
    file = {"source_file_id": file_id, "subset": role.subset, "split": split, "standard_split": SPLITS[split]}
    dialogues = talks.select("dialogue_id", "title", "native_id", "extra", domain="category", started_at="dialog_time")
    records = talks.select("dialogue_id", "record_index", "record_id", "native_id", "source_pointer")
    parts: list[tuple[type[Row], dict[str, Any], pl.DataFrame]] = [
        (Dialogue, {"corpus_id": CORPUS, "language": "en"}, dialogues),
        (Participant, {}, _participants(talks.lazy()).collect(engine="in-memory")),
        (Turn, {"kind": "message"}, _turns(talks.lazy(), usual.said.lazy()).collect(engine="in-memory")),
        (Record, {"corpus_id": CORPUS, "extra": fields(FIELDS), **file}, records),
    ]
    return [Block(kind, same, frame.to_dict()) for kind, same, frame in parts]


def _participants(talks: pl.LazyFrame) -> pl.LazyFrame:
    """Give user and agent; somebody who answers himself takes part once, as user."""
    user = talks.select("dialogue_id", speaker_id="user_key", role=pl.lit("user"))
    agent = talks.filter(pl.col("user_key") != pl.col("agent_key"))
    return pl.concat([user, agent.select("dialogue_id", speaker_id="agent_key", role=pl.lit("agent"))])


def _turns(talks: pl.LazyFrame, said: pl.LazyFrame) -> pl.LazyFrame:
    """Lay the utterances out, user and agent in turns; times stay texts, which DuckDB reads."""
    owners = talks.select("place", "dialogue_id", "user_key", "agent_key")
    return said.join(owners, on="place", maintain_order="left").select(
        "dialogue_id",
        "turn_index",
        speaker_id=pl.when(_IS_USER).then("user_key").otherwise("agent_key"),
        role=_ROLE,
        text="utterance",
        native_id="id",
        said_at="utterance_time",
        # Votes are digits, which JSON does not escape.
        extra=pl.lit('{"votes":"') + pl.col("votes") + '","is_answer":0}',
    )


def parsed(usual: Usual) -> dict[int, Parsed]:
    """Give words and facts of the dialogues as ``parse`` gives them, by place; all but ``facts["utterances"]``."""
    said = usual.said.with_columns(actor_type=_ROLE, is_answer=0)
    columns = {name: said[name].to_list() for name in SPOKEN}
    columns["user_id"] = [b"%d.0" % user for user in columns["user_id"]]
    found, start = {}, 0
    for place, size, *facts in usual.talks.select("place", "size", *TALK_FACTS).iter_rows():
        spoken = Spoken._make([column[start : start + size] for column in columns.values()])
        found[place] = Parsed(dict(zip(TALK_FACTS, facts, strict=True)), spoken, [0] * size, {})
        start += size
    return found
