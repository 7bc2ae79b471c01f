"""The rows of usual dialogues, laid out as columns; and, where they are needed, their words as ``parse`` gives them."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl
from msgspec import Struct
from msgspec.structs import astuple
from polars import selectors as cs

from ingest import decode
from ingest.corpora.mantis.form import Form
from ingest.corpora.mantis.layout import CORPUS, SPLITS, Role
from ingest.corpora.mantis.parse import Parsed, Spoken
from ingest.corpora.mantis.record import fields, key_of
from ingest.corpora.mantis.shapes import NAN, TALK_FACTS
from ingest.corpora.mantis.talk import FLAGGED
from ingest.corpora.mantis.usual import named
from ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Turn

_SAID = dict.fromkeys(("utterance", "utterance_time", "votes", "id"), "varchar") | {"utterance_pos": "integer"}


def _turns(form: Form, order: int) -> str:
    """Give the SELECT of the turns; ``order`` is the number of the file's order of keys."""
    last = f',"fields":{order}' if order else ""
    votes, rest = form.votes.split("{}")
    return f"""
    select
        dialogue_id,
        said.utterance_pos - 1 as turn_index,
        if(said.utterance_pos % 2 = 1, user_key, agent_key) as speaker_id,
        if(said.utterance_pos % 2 = 1, 'user', 'agent') as role,
        'message' as kind,
        said.utterance as text,
        said.id as native_id,
        said.utterance_time as said_at,
        -- Votes are digits, which JSON does not escape.
        '{{"votes":{votes}' || said.votes || '{rest},"is_answer":0'
            || coalesce(',"literals":' || if(said.utterance_pos % 2 = 1, user_literals, agent_literals), '')
            || '{last}}}' as extra
    from (
        select * exclude raw, unnest(from_json(raw, '{json.dumps({"utterances": [_SAID]})}').utterances) as said
        from stream
    )
    """


class Setting(NamedTuple):
    """What the dialogues of a file have in common."""

    file_id: str
    role: Role
    form: Form
    order: int
    """The number of the order of an utterance's keys."""


def blocks(usual: pl.DataFrame, places: Sequence[int], keys: Sequence[str], setting: Setting) -> list[ColumnBatch]:
    """Give the rows of usual dialogues, of which the speakers' keys are known; and of their records.

    ``places`` and ``keys`` are those of the file, for each dialogue of the batch.
    """
    file_id, role, form, order = setting
    split = role.split or ""
    chosen = usual["place"]
    talks = usual.with_columns(
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
        (Record, {"corpus_id": CORPUS, "extra": fields(form.fields), **file}, records),
    ]
    turns = talks.select("dialogue_id", "raw", cs.matches("_key|_literals")).to_dict()
    found = [ColumnBatch(kind, same, frame.to_dict()) for kind, same, frame in parts]
    return [*found, ColumnBatch(Turn, {}, turns, _turns(form, order), int(talks["size"].sum()))]


def _participants(talks: pl.LazyFrame) -> pl.LazyFrame:
    """Give user and agent; somebody who answers himself takes part once, as user."""
    user = talks.select("dialogue_id", speaker_id="user_key", role=pl.lit("user"))
    agent = talks.filter(pl.col("user_key") != pl.col("agent_key"))
    return pl.concat([user, agent.select("dialogue_id", speaker_id="agent_key", role=pl.lit("agent"))])


class _Said(Struct, gc=False):
    """An utterance of a usual dialogue."""

    utterance: str
    utterance_time: str
    utterance_pos: int
    actor_type: str
    user_name: str | None
    user_id: float
    votes: str | int
    id: str
    is_answer: int


class _Talk(Struct, gc=False):
    utterances: list[_Said]


def parsed(usual: pl.DataFrame, form: Form) -> dict[int, Parsed]:
    """Give words and facts of the dialogues as ``parse`` does, by place; not ``facts["utterances"]`` and the orders."""
    found = {}
    for place, raw, *facts in usual.select("place", "raw", *TALK_FACTS).iter_rows():
        said = decode.decoder(_Talk).decode(named(raw.encode())).utterances
        spoken = Spoken._make(map(list, zip(*map(astuple, said), strict=True)))
        spoken = spoken._replace(
            users=list(map(form.user_id, spoken.users)), names=[NAN if name is None else name for name in spoken.names]
        )
        found[place] = Parsed(dict(zip(TALK_FACTS, facts, strict=True)), spoken, [0] * len(said), {})
    return found
