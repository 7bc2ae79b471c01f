"""Usual dialogues: what is one and what is none, and that they give the rows that the long way gives."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest.corpora.mantis.dialogues import Build, Dialogues, Member
from ingest.corpora.mantis.form import PUBLISHED, Form, form_of
from ingest.corpora.mantis.layout import Role
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.usual import usual as usual_of

from ingest.batches import Stream, column_batch_frame, frame
from ingest.outcomes import LoadedBatch, Outcome
from ingest.rows import ColumnBatch
from ingest.sources import SourceFile, disk_files, opened
from tests.conftest import how_many
from tests.corpora.mantis.inventor import Inventor
from tests.corpora.mantis.rules import Talk

Rows = dict[str, list[tuple[Any, ...]]]
BASE = Inventor(['say "cheese"', "é \\ 😀", "plain"], 1).usual()
RAW = json.dumps(BASE).encode()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceFile]:
    """Give a file that dialogues could be from."""
    path: Path = tmp_path_factory.mktemp("data") / "merged_train.json"
    path.write_text("{}")
    with opened(disk_files(path, "mantis/merged_train.json")) as ([one], _):
        yield one


def usual(raws: list[bytes], form: Form = PUBLISHED) -> pl.DataFrame:
    """Find the usual ones of dialogues in a form."""
    return usual_of(raws, form)


def outcomes(file: SourceFile, raws: list[bytes], found: pl.DataFrame, form: Form = PUBLISHED) -> list[Outcome]:
    """Read dialogues as one batch, of which some are known to be usual."""
    dialogues = Dialogues(file, Role("merged", "train"), form, Build(Proof(is_labelled=False), ()))
    return list(dialogues.batch([Member(place, str(place), raw, None) for place, raw in enumerate(raws)], found))


def rows(given: list[Outcome]) -> Rows:
    """Lay all rows out by table, in an order of their own."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for many in given:
        assert isinstance(many, LoadedBatch)
        for row in many.rows:
            tables.setdefault(row.TABLE, []).append(frame(row.TABLE, [row]))
        for block in many.blocks:
            tables.setdefault(block.kind.TABLE, []).append(made(block))
    return {
        table: sorted(map(repr, pl.concat(map(in_time, frames), how="vertical_relaxed").rows()))
        for table, frames in tables.items()
    }


def made(block: ColumnBatch) -> pl.DataFrame:
    """Make the rows of a block as a load does."""
    stream = Stream(column_batch_frame(block.kind.TABLE, [block]))  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect() as con:
        found = con.execute(block.select)
        names = [column[0] for column in found.description]
        frame = pl.DataFrame(found.fetchall(), schema=names, orient="row", infer_schema_length=None)
    assert len(frame) == len(block)
    return frame


def in_time(one: pl.DataFrame) -> pl.DataFrame:
    """Read the times that are handed on as texts."""
    texts = [name for name in ("started_at", "said_at") if one.schema.get(name) == pl.String]
    return one.with_columns(pl.col(texts).str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="us"))


def changed(change: Callable[[Talk], object]) -> bytes:
    """Give the usual dialogue with a change."""
    talk = json.loads(RAW)
    change(talk)
    return json.dumps(talk).encode()


def edit(name: str, value: object, place: int = 1) -> Callable[[Talk], object]:
    """Give a change of one field of an utterance."""
    return lambda talk: talk["utterances"][place].update({name: value})


def turned(talk: Talk) -> None:
    """Turn the order of an utterance's keys."""
    talk["utterances"][1] = dict(reversed(talk["utterances"][1].items()))


UNUSUAL = {
    "another order of keys": changed(turned),
    "an unknown key": changed(edit("more", 1)),
    "a missing key": changed(lambda talk: talk["utterances"][1].pop("votes")),
    "a key twice": RAW.replace(b'"votes":', b'"votes": "1", "votes":', 1),
    "a key with an escape": RAW.replace(b'"votes"', b'"v\\u006ftes"', 1),
    "a name that is missing once": changed(edit("user_name", float("nan"))),
    "a null": changed(edit("user_name", None)),
    "a whole number as id": changed(edit("user_id", 4)),
    "a broken number as id": changed(edit("user_id", 4.5)),
    "a number beyond a double": RAW.replace(b'"is_answer"', b'"is_answer"', 1).replace(
        b".0,", b"1111111111111111.0,", 1
    ),
    "another person": changed(edit("user_id", 99.0, 2)),
    "another name": changed(edit("user_name", "somebody else", 2)),
    "votes with a sign": changed(edit("votes", "+1")),
    "votes as a number": changed(edit("votes", 1)),
    "an accepted answer": changed(edit("is_answer", 1)),
    "another number": changed(edit("utterance_pos", 7)),
    "29 February": changed(lambda talk: talk.update(dialog_time="2012-02-29T05:06:07.890")),
    "30 February": changed(edit("utterance_time", "2012-02-30T05:06:07.890")),
    "25 o'clock": changed(edit("utterance_time", "2012-02-01T25:06:07.890")),
    "no milliseconds": changed(edit("utterance_time", "2012-02-01T05:06:07")),
    "a placeholder": changed(edit("utterance", "<Placeholder Response>")),
    "a role twice": changed(edit("actor_type", "user")),
    "another role": changed(edit("actor_type", "bot")),
    "few utterances": changed(lambda talk: talk.update(utterances=talk["utterances"][:3])),
    "labels": changed(edit("intent", ["PA"])),
    "a labelled dialogue": changed(lambda talk: talk.update(has_intent_labels=True)),
    "another site": changed(lambda talk: talk.update(category="no site")),
    "no title": changed(lambda talk: talk.update(title=None)),
    "a flag of 2": changed(lambda talk: talk.update(has_concatenated_utterances=2)),
    "half a pair": changed(edit("utterance", "\ud83d")),
    "the other half": changed(edit("utterance", "\ude00 \ud83d\ud83d")),
    "a letter as its number": changed(edit("utterance", "HERE")).replace(b"HERE", rb"\u0022"),
    "a control character": changed(edit("utterance", "HERE")).replace(b"HERE", b"\x01"),
    "no UTF-8": changed(edit("utterance", "HERE")).replace(b"HERE", b"\xff"),
    "a text behind the end": RAW + b" {}",
    "no end": RAW[:-1],
}


@pytest.mark.parametrize("raw", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_what_is_unusual_is_seen(raw: bytes) -> None:
    assert raw != RAW
    assert usual([raw, RAW])["place"].to_list() == [1]


USUAL = {
    "as published": RAW,
    "on lines": json.dumps(BASE, indent=1).encode(),
    "without blanks": json.dumps(BASE, separators=(",", ":")).encode(),
    "in UTF-8": json.dumps(BASE, ensure_ascii=False).encode(),
    "with escapes": changed(edit("utterance", "HERE")).replace(
        b"HERE", rb"\/\b\f\n\r\t\\\"\u007f\u00e9\ud83d\uDE00\u0000"
    ),
    "negative votes": changed(edit("votes", "-12")),
    "another time of the question": changed(lambda talk: talk.update(dialog_time="2011-01-01T05:06:07.890")),
    "nobody has a name": changed(lambda talk: [said.update(user_name=float("nan")) for said in talk["utterances"]]),
    "only the agent has a name": changed(
        lambda talk: [said.update(user_name=float("nan")) for said in talk["utterances"][::2]]
    ),
    "NaN in a text": changed(edit("utterance", '"user_name": NaN, NaN')),
    "somebody answers himself": changed(
        lambda talk: [said.update(user_id=7.0, user_name="x") for said in talk["utterances"]]
    ),
}


@pytest.mark.parametrize("raw", USUAL.values(), ids=USUAL.keys())
def test_what_is_usual_gives_the_rows_of_the_long_way(raw: bytes, file: SourceFile) -> None:
    found = usual([raw])
    assert len(found) == 1
    assert rows(outcomes(file, [raw], found)) == rows(outcomes(file, [raw], usual([])))


def written(talk: Talk, kind: type[float | int], votes: type[str | int], shift: int) -> Talk:
    """Write a dialogue in another form."""

    def turned(one: Talk) -> Talk:
        keys = [*one]
        return {key: one[key] for key in keys[shift:] + keys[:shift]}

    said = [turned(one | {"user_id": kind(one["user_id"]), "votes": votes(one["votes"])}) for one in talk["utterances"]]
    return turned(talk | {"utterances": said})


@pytest.mark.parametrize("kind", [float, int])
@pytest.mark.parametrize("votes", [str, int])
@pytest.mark.parametrize("shift", [0, 2])
def test_a_file_has_its_own_form(kind: type[float | int], votes: type[str | int], shift: int, file: SourceFile) -> None:
    raws = [
        json.dumps(written(Inventor(["a", '"b"', "c"], seed).usual(), kind, votes, shift)).encode() for seed in range(9)
    ]
    raws.insert(4, RAW)
    found = usual(raws, form := form_of(raws[0]))
    assert len(found) == (10 if form == PUBLISHED else 9)
    assert (form == PUBLISHED) == ((kind, votes, shift) == (float, str, 0))
    assert rows(outcomes(file, raws, found, form)) == rows(outcomes(file, raws, usual([]), form))


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"utterances": []}', RAW.replace(b'"id"', b'"more"'), RAW.replace(b"title", b"name")]
)
def test_what_has_other_keys_has_the_published_form(raw: bytes) -> None:
    assert form_of(raw) == PUBLISHED


@settings(max_examples=how_many(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(), min_size=3, max_size=9), seed=st.integers(0, 2**32), spaced=st.booleans())
def test_invented_usual_dialogues_give_the_rows_of_the_long_way(
    texts: list[str], seed: int, spaced: bool, file: SourceFile
) -> None:
    inventor = Inventor([re.sub("[\ud800-\udfff]", "", text) for text in texts], seed)
    raw = json.dumps(inventor.usual(), ensure_ascii=spaced, indent=2 if spaced else None).encode()
    found = usual([raw])
    assert len(found) == 1
    assert rows(outcomes(file, [raw], found)) == rows(outcomes(file, [raw], usual([])))


def test_a_person_of_another_name_is_kept_with_both(file: SourceFile) -> None:
    talks = [json.loads(RAW) for _ in range(5)]
    names = ("first", 'second \\ "é', float("nan"), "first", 'second \\ "é')
    for number, (talk, name) in enumerate(zip(talks, names, strict=True)):
        for said in talk["utterances"][number % 2 :: 2]:
            said.update(user_id=5.0, user_name=name)
    raws = [json.dumps(talk).encode() for talk in talks]
    for order in (raws, raws[::-1], raws[2:]):
        found = usual(order)
        assert len(found) == len(order)
        assert rows(outcomes(file, order, found)) == rows(outcomes(file, order, usual([])))
