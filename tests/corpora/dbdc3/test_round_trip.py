"""DBDC3: logs and paragraphs of any text and shape, through a build and back: equal in every value and in key order."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.corpora.dbdc3 import CORPUS
from tests.conftest import ONCE_BROKEN, invented_builds
from tests.corpora.unusual import BOM, ODD_TEXTS, files_back

LIKE_JSON = ('\\ \\\\u0041 " \' \\" / ~ ~0 ~1', '":"a":', '{"a": 1, "a": 2}', "\r\n\n\r\t", "null")
TEXT = st.sampled_from([*ODD_TEXTS, *LIKE_JSON, "".join(map(chr, range(0x20))), "\U0001f600" * 30_000]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
)
"""All of Unicode's planes, control characters and noncharacters too; halves of surrogate pairs are no text."""

NUMBERS = [0, -1, 1.0, 1e3, -0.0, 5e-324, 1e308, 2**63, -(2**63) - 1, 2**64, 10**40, 0.1, 30.0]
NUMBER = st.sampled_from(NUMBERS) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
KEY = TEXT | st.sampled_from(["", "/", "~", "~1", "a/b", "turns", "comment", "dialogue-id", "time", "turn_index", "0"])
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3),
    max_leaves=5,
)
MAYBE = TEXT | st.none() | NUMBER


@st.composite
def thing(draw: st.DrawFn, needed: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Make an object with some of the options and some unknown keys, in any order."""
    known = draw(st.fixed_dictionaries(needed, optional=options))
    unknown = draw(st.dictionaries(KEY.filter(lambda key: key not in {*needed, *options}), VALUE, max_size=2))
    items = list((known | unknown).items())
    return dict(draw(st.permutations(items)) if draw(st.booleans()) else items)


LABEL = thing(
    {"breakdown": st.sampled_from(["O", "T", "X"]) | MAYBE},
    {"annotator-id": MAYBE, "ungrammatical-sentence": MAYBE, "comment": MAYBE},
)
TIMES = ["", None, "2017-08-30 16:48:20", "0017-01-01 00:00:00", "2017-02-30 00:00:00", "\uff12017-08-30 16:48:20"]
OPTIONS = {"turn-index": VALUE, "time": st.sampled_from(TIMES) | TEXT, "annotation-id": MAYBE}
SYSTEM = thing({"speaker": st.just("S") | TEXT, "utterance": TEXT, "annotations": st.lists(LABEL, max_size=4)}, OPTIONS)
USER = thing(
    {"speaker": st.just("U"), "utterance": TEXT}, {"annotations": st.none() | st.lists(LABEL, max_size=2), **OPTIONS}
)
NAME = st.sampled_from(["CIC1", "iris_1", "7", "user/IRIS", "a~b"])
LOG = thing(
    {"dialogue-id": NAME | TEXT | NUMBER, "turns": st.lists(SYSTEM | USER, max_size=4)},
    {"group-id": MAYBE, "speaker-id": MAYBE | st.just("user")},
)
BROKEN = st.sampled_from(
    [b"", b"{", b"[]", b"\xff", b'{"turns": NaN}', b'{"a": "\\ud800"}', b'{"a": 1, "a": 2}', b"\x00"]
)


@st.composite
def folder(draw: st.DrawFn) -> dict[str, bytes]:
    """Make files by path: logs, some that state one dialogue differently, background paragraphs, and broken ones."""
    logs = draw(st.lists(LOG, min_size=1, max_size=12))
    again = [log | {"group-id": draw(MAYBE), "speaker-id": draw(MAYBE)} for log in logs if draw(st.booleans())]
    files: dict[str, bytes] = {}
    for number, log in enumerate([*logs, *again]):
        text = json.dumps(log, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
        path = f"release_{number}/en/dev/subset/{draw(st.sampled_from(['x', 'CIC1', '', ' ']))}.log.json"
        files[path] = draw(st.sampled_from([b"", BOM])) + text.encode()
    for number, text in enumerate(draw(st.lists(TEXT, max_size=3))):
        name = draw(st.sampled_from(["CIC1", "7", ""]))
        files[f"contexts_{number}/{name}.log.context"] = text.encode()
    for number, raw in enumerate(draw(st.lists(BROKEN, max_size=3))):
        files[f"broken_{number}/a.log.json"] = draw(st.sampled_from([b"", BOM])) + raw
    return files


def assert_equal(came: dict[str, bytes], went: dict[str, bytes]) -> None:
    """Compare files: logs by value, type of number and order of keys; everything else byte for byte."""
    assert went.keys() == came.keys()
    for name, raw in came.items():
        if raw == went[name]:
            continue
        assert name.endswith(".json"), name
        assert went[name][:1] == raw[:1], "the byte order mark"
        values = (json.loads(text.decode("utf-8-sig")) for text in (raw, went[name]))
        assert len({json.dumps(value) for value in values}) == 1, name


@pytest.mark.slow
@invented_builds(10, ONCE_BROKEN)
@given(files=folder(), form=st.sampled_from([None, "zip", "gztar"]))
def test_invented_files_come_back_equal(
    files: dict[str, bytes], form: str | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_equal(files, files_back(tmp_path_factory.mktemp("logs"), CORPUS, files, "DBDC3", form))


def log(dialogue_id: str, turns: list[dict[str, Any]], **more: Any) -> bytes:
    return json.dumps({"dialogue-id": dialogue_id, "turns": turns} | more).encode()


def turn(text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"speaker": "U", "utterance": text} | more


VOTES = [{"breakdown": "O", "comment": "a"}, {"comment": "b", "breakdown": "X"}]
ONCE_LOST = {
    "order_of_a_later_turn/a.log.json": log("a", [turn(), {"utterance": "ho", "speaker": "U"}]),
    "order_of_a_later_label/b.log.json": log("b", [{"speaker": "S", "utterance": "", "annotations": VOTES}]),
    "order_of_an_unknown_key/c.log.json": log("c", [turn(), {"speaker": "U", "x": 1, "utterance": "ho"}]),
    "a_label_s_key_in_a_turn/d.log.json": log("d", [turn(), turn(comment="which a turn has not")]),
    "year_of_four_digits/e.log.json": log("e", [turn(time="0017-08-30 16:48:20")]),
    "id_like_a_person_s_key/iris_1.log.json": log("iris_1", [turn()], **{"speaker-id": "user"}),
    "id_like_a_person_s_key/zzz.log.json": log("user/IRIS", [turn()], **{"speaker-id": ""}),
    "number_without_a_double/f.log.json": log("f", [turn()])[:-1] + b', "x": [1e400, -1E+999]}',
    "turn_index_without_a_double/g.log.json": log("g", [turn(**{"turn-index": 0})]).replace(b": 0", b": 1e400"),
    "no_name/.log.context": b"a paragraph of nobody",
    "no_name/.log.json": log("", [turn()]),
    "key_twice/h.log.json": log("h", [turn()]).replace(
        b'"speaker"', b'"utterance": "lost", "x": {"a": 1, "a": 1.50}, "speaker"'
    ),
    "number_without_a_double/i.log.json": log("i", [turn()]).replace(b'"i"', b"9" * 5000),
    "cells/speaker-attribute.tsv": b"id\tsex\tsex\n1_1\ta\tb\r\n1_1\tc\n\n\n2_1\td\te\tf",
    "cells/annotator-attribute.tsv": b"",
}
"""What reader or writer once changed, dropped or stumbled over, by what it was."""


@pytest.mark.slow
def test_what_was_once_lost_comes_back(tmp_path: Path) -> None:
    assert_equal(ONCE_LOST, files_back(tmp_path, CORPUS, ONCE_LOST, "DBDC3"))
