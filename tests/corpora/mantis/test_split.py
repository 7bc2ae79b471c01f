"""Files of dialogues are split into what Python's json reads there, whatever their texts and NaN look like."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest import json_members
from talkhouse.ingest.corpora.mantis import conversations
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.loading import batches
from tests.conftest import Build, invented_examples
from tests.corpora.mantis.inventor import Inventor

TEXTS = st.text() | st.sampled_from(['}, "1": {', '\\"}, "7": {', "NaN", '"a": NaN', ": NaN ", '\\": NaN}', "0.0"])
NUMBERS = st.integers() | st.sampled_from([float("nan"), 0.0, 1e5])
KEYS = st.integers(0, 99).map(str) | st.text(max_size=3)
VALUES = st.recursive(
    TEXTS | NUMBERS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False, "indent": "\t"}]


def views(text: bytes) -> list[tuple[str, bytes]]:
    memory = bytearray(text)
    found = [(key, bytes(piece)) for key, piece in json_members.views(memoryview(memory), with_nan=True)]
    assert memory == text
    return found


def scanned(text: bytes) -> list[tuple[str, bytes]]:
    """Split a file by its brackets alone."""
    return [(key, bytes(piece)) for key, piece in json_members._scan(memoryview(text), json_members._OBJECT)]


@pytest.mark.slow
@invented_examples(150)
@given(
    talks=st.dictionaries(st.integers(0, 999), st.dictionaries(KEYS, VALUES, max_size=4), max_size=12),
    layout=st.sampled_from(LAYOUTS),
)
def test_dialogues_are_published_texts_of_their_values(talks: dict[int, Any], layout: dict[str, Any]) -> None:
    text = json.dumps(talks, **layout).encode(errors="replace")
    found = views(text)
    assert found == scanned(text)
    expected = {key: repr(value) for key, value in json.loads(text).items()}
    assert {key: repr(json.loads(raw)) for key, raw in found} == expected


@pytest.mark.parametrize(
    "text",
    [
        b'{"0": {"a": "}, \\"1\\": {"}, "9": {}}',
        b' \n{ "0"\t:\r{} , "007" : { "a" : [ {} ] } } ',
        b'{"0": {"u": NaN}, "1": {"u" :\nNaN , "v": 0.0}, "2": {"u": "NaN", "w": ": NaN,"}}',
        b'{"0": {"u": [NaN]}, "1": {"a b": NaN}}',
        b'{"0": {"a": 1}, "1": {"a" 2, "b": NaN}, "2": {"a": NaN}, "0": {"a": NaN}}',
        b" \n{ }\t",
    ],
)
def test_files_are_split_whatever_is_in_them(text: bytes) -> None:
    assert views(text) == scanned(text)


REJECTED = {
    "a key that is no number": (b'{"0": {"a": 1}, "x": {}, "1": {}}', "MA-01"),
    "no text": (b"", "TH-01"),
    "no object": (b"[{}]", "MA-01"),
    "no end": (b'{"0": {"a": 1}, "1": {"a": [}', "TH-01"),
    "no end of a dialogue": (b'{"0": {"a": 1}, "1": {"a": 2}', "TH-01"),
}


@pytest.mark.parametrize(("text", "rule"), REJECTED.values(), ids=REJECTED.keys())
def test_a_file_that_is_no_object_of_dialogues_is_rejected(text: bytes, rule: str) -> None:
    with pytest.raises(BadRecord) as caught:
        conversations._pieces(memoryview(bytearray(text)))
    assert caught.value.rule == rule


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_malformed_dialogue_hides_no_other(
    mark: str, build_data: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "mantis"
    folder.mkdir(parents=True)
    talks = [json.dumps(Inventor(["a", "b", "c"], seed).plain()) for seed in range(40)]
    members = [f'"{index}": {talk}' for index, talk in enumerate(talks)]
    members[30] = '"30": {"malformed"}'
    (folder / "merged_train.json").write_text(mark + "{" + ", ".join(members) + "}", encoding="utf-8")
    (folder / "merged_dev.json").write_text(json.dumps({"7": json.loads(talks[0])}), encoding="utf-8")
    monkeypatch.setattr(conversations, "_TOGETHER", 3_000)
    monkeypatch.setattr(batches, "_BATCH_BYTES", 3_000)
    monkeypatch.setattr(batches, "_FEW", 1)
    with build_data(tmp_path / "data") as con:
        assert con.execute("select count(*), count(distinct dialogue_id) from main.dialogues").fetchall() == [(40, 40)]
        assert con.execute("select pointer, rule from meta.quarantine").fetchall() == [("/30", "TH-01")]
        counts = "select records_in, records_loaded, records_quarantined from meta.source_files order by path"
        assert con.execute(counts).fetchall() == [(1, 1, 0), (40, 39, 1)]
