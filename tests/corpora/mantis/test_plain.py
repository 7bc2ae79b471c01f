"""Plain dialogues: which are and which are not, and that they give the rows that the long way gives."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.contract.validation import Validator
from talkhouse.ingest.corpora.mantis import CORPUS
from talkhouse.ingest.corpora.mantis.conversations import ConversationBatch, ConversationState, DialogueMember
from talkhouse.ingest.corpora.mantis.dialogue import plain_dialogues
from talkhouse.ingest.corpora.mantis.format import Role
from talkhouse.ingest.corpora.mantis.ranking import ContextIndex
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.loading.batches import column_batch_frame, frame
from talkhouse.ingest.outcomes import LoadedBatch, Outcome
from talkhouse.ingest.registry import rules_of
from talkhouse.ingest.sources import SourceFile, opened
from tests.conftest import invented_examples
from tests.corpora.mantis.inventor import Inventor
from tests.corpora.mantis.rules import Talk

Rows = dict[str, list[tuple[Any, ...]]]
BASE = Inventor(['say "cheese"', "é \\ 😀", "plain"], 1).plain()
RAW = json.dumps(BASE).encode()
VALIDATOR = Validator(CORPUS, rules_of(CORPUS))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceFile]:
    """Return a file that dialogues could be from."""
    path: Path = tmp_path_factory.mktemp("data") / "merged_train.json"
    path.write_text("{}")
    with opened(disk_files(path, "mantis/merged_train.json")) as ([source], _):
        yield source


def outcomes(file: SourceFile, raws: list[bytes], found: pl.DataFrame) -> list[Outcome]:
    """Read dialogues as one batch, of which some are known to be plain."""
    batch = ConversationBatch(ConversationState(ContextIndex(is_labelled=False), ()), file, Role("merged", "train"))
    return list(batch.read([DialogueMember(place, str(place), raw, None) for place, raw in enumerate(raws)], found))


def rows(found: list[Outcome]) -> Rows:
    """Lay all rows out by table, in an order of their own."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for many in found:
        assert isinstance(many, LoadedBatch)
        VALIDATOR.many(many)
        for row in many.rows:
            tables.setdefault(row.TABLE, []).append(frame(row.TABLE, [row]))
        for batch in many.column_batches:
            tables.setdefault(batch.kind.TABLE, []).append(column_batch_frame(batch.kind.TABLE, [batch]))
    return {table: sorted(map(repr, pl.concat(frames).rows())) for table, frames in tables.items()}


def both_ways(file: SourceFile, raws: list[bytes]) -> tuple[Rows, Rows]:
    """Return the rows of dialogues as they are read, and those of the long way."""
    return rows(outcomes(file, raws, plain_dialogues(raws))), rows(outcomes(file, raws, plain_dialogues([])))


def changed(change: Callable[[Talk], object]) -> bytes:
    talk = json.loads(RAW)
    change(talk)
    return json.dumps(talk).encode()


def edit(name: str, value: object, place: int = 1) -> Callable[[Talk], object]:
    return lambda talk: talk["utterances"][place].update({name: value})


def turned(talk: Talk) -> None:
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
    assert plain_dialogues([raw, RAW])["position"].to_list() == [1]


PLAIN = {
    "as published": RAW,
    "on lines": json.dumps(BASE, indent=1).encode(),
    "without blanks": json.dumps(BASE, separators=(",", ":")).encode(),
    "in UTF-8": json.dumps(BASE, ensure_ascii=False).encode(),
    "with escapes": changed(edit("utterance", "HERE")).replace(
        b"HERE", rb"\/\b\f\n\r\t\\\"\u007f\u00e9\ud83d\uDE00\u0000"
    ),
    "negative votes": changed(edit("votes", "-12")),
    "another time of the question": changed(lambda talk: talk.update(dialog_time="2011-01-01T05:06:07.890")),
    "nobody has a name": changed(lambda talk: [turn.update(user_name=float("nan")) for turn in talk["utterances"]]),
    "only the agent has a name": changed(
        lambda talk: [turn.update(user_name=float("nan")) for turn in talk["utterances"][::2]]
    ),
    "NaN in a text": changed(edit("utterance", '"user_name": NaN, NaN')),
    "somebody answers himself": changed(
        lambda talk: [turn.update(user_id=7.0, user_name="x") for turn in talk["utterances"]]
    ),
}


@pytest.mark.parametrize("raw", PLAIN.values(), ids=PLAIN.keys())
def test_what_is_plain_gives_the_rows_of_the_long_way(raw: bytes, file: SourceFile) -> None:
    assert len(plain_dialogues([raw])) == 1
    found, expected = both_ways(file, [raw])
    assert found == expected


@pytest.mark.slow
@invented_examples(40)
@given(texts=st.lists(st.text(), min_size=3, max_size=9), seed=st.integers(0, 2**32), spaced=st.booleans())
def test_plain_dialogues_give_the_rows_of_others(texts: list[str], seed: int, spaced: bool, file: SourceFile) -> None:
    inventor = Inventor([re.sub("[\ud800-\udfff]", "", text) for text in texts], seed)
    raw = json.dumps(inventor.plain(), ensure_ascii=spaced, indent=2 if spaced else None).encode()
    assert len(plain_dialogues([raw])) == 1
    found, expected = both_ways(file, [raw])
    assert found == expected


def test_a_person_of_another_name_is_kept_with_both(file: SourceFile) -> None:
    talks = [json.loads(RAW) for _ in range(5)]
    names = ("first", 'second \\ "é', float("nan"), "first", 'second \\ "é')
    for number, (talk, name) in enumerate(zip(talks, names, strict=True)):
        for turn in talk["utterances"][number % 2 :: 2]:
            turn.update(user_id=5.0, user_name=name)
    raws = [json.dumps(talk).encode() for talk in talks]
    for order in (raws, raws[::-1], raws[2:]):
        assert len(plain_dialogues(order)) == len(order)
        found, expected = both_ways(file, order)
        assert found == expected


CHANGES: list[tuple[str, Any]] = [
    *(("user_id", 4), ("user_id", float("nan")), ("user_name", None), ("user_name", float("nan")), ("votes", 3)),
    *(("votes", "x"), ("is_answer", 1), ("id", None), ("utterance_pos", 7), ("actor_type", "bot")),
    *(("utterance_time", "2012-03-04T05:06:07"), ("more", {"a": [1.50, None]})),
]


@invented_examples(60)
@given(
    seeds=st.lists(st.integers(0, 2**32), min_size=1, max_size=6),
    edits=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from(CHANGES)), max_size=4),
)
def test_batches_of_plain_and_nearly_plain_dialogues_give_the_rows_of_the_long_way(
    seeds: list[int], edits: list[tuple[int, int, tuple[str, Any]]], file: SourceFile
) -> None:
    # Nobody is in two of the dialogues: of several names of one person, who is named first depends on the way.
    talks = [Inventor(["a", '"b"', "é"], seed).plain() for seed in seeds]
    for number, talk in enumerate(talks):
        for turn in talk["utterances"]:
            turn["user_id"] += 100.0 * number
    for number, place, (name, value) in edits:
        talks[number % len(talks)]["utterances"][place][name] = value
    raws = [json.dumps(talk).encode() for talk in talks]
    touched = {number % len(talks) for number, _, _ in edits}
    assert set(range(len(talks))) - touched <= set(plain_dialogues(raws)["position"].to_list())
    found, expected = both_ways(file, raws)
    assert found == expected
