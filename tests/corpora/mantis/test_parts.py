"""Files in parts: wherever they are cut, their dialogues are those of the file as a whole."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import batches, json_members, sources
from ingest.corpora.mantis import parts
from ingest.disk_files import disk_files
from ingest.outcomes import RereadRequested
from ingest.sources import opened
from tests.conftest import Build, invented_examples
from tests.corpora.mantis.inventor import Inventor

Talks = list[tuple[str, bytes]]

TEXTS = st.text() | st.sampled_from(['}, "1": {', '\\"}, "7": {', "NaN", '"a": NaN', "0E0"])
NUMBERS = st.integers() | st.sampled_from([float("nan"), 0.0, 1e5])
KEYS = st.integers(0, 99).map(str) | st.text(max_size=3)
VALUES = st.recursive(
    TEXTS | NUMBERS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False, "indent": "\t"}]


def read(path: Path) -> Talks:
    """Give keys and texts of a file's dialogues; RereadRequested if one of them is no JSON."""
    with opened(disk_files(path, path.name)) as ([file], _):
        found = [one for texts in parts.parts(file) for one in texts]
    if not all(parts.is_json(raw) for _, raw in found):
        raise RereadRequested
    return found


@invented_examples(150)
@given(
    talks=st.dictionaries(st.integers(0, 999), st.dictionaries(KEYS, VALUES, max_size=4), max_size=12),
    layout=st.sampled_from(LAYOUTS),
    size=st.integers(1, 400),
    piece=st.integers(1, 100),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_dialogues_are_the_same_wherever_a_file_is_cut(
    talks: dict[int, Any], layout: dict[str, Any], size: int, piece: int, mark: str, tmp_path: Path
) -> None:
    text = json.dumps(talks, **layout).encode(errors="replace")
    path = tmp_path / "x.json"
    path.write_bytes(mark.encode() + text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_SIZE", size)
        patch.setattr(parts, "_LONGEST", 40)
        patch.setattr(sources, "_PIECE", piece)
        try:
            found = read(path)
        except RereadRequested:
            # Only an object or list inside, or a key that is no word, may hide where a dialogue ends or what NaN is.
            assert not talks or not all(is_plain(talk) for talk in talks.values())
            return
    assert found == [(one.token, one.raw) for one in json_members.members(text)]


def is_plain(talk: dict[str, Any]) -> bool:
    """Whether a dialogue has nothing but words, numbers and null."""
    return all(re.fullmatch(r"\w+", key, re.ASCII) for key in talk) and not any(
        isinstance(value, dict | list) for value in talk.values()
    )


DOUBTFUL = {
    "a key twice": b'{"0": {"a": 1}, "1": {"a": 2}, "0": {"a": 3}, "2": {}}',
    "a key twice in a row": b'{"0": {"a": 1}, "0": {"a": 2}, "1": {"a": 3}, "2": {}}',
    "malformed": b'{"0": {"a": 1}, "1": {"a" 2}, "2": {"a": 3}, "3": {}}',
    "cut where there is none": b'{"0": {"x": {"a": 1}, "1": {"b": 2}, "2": {"c": 3}}, "9": {}}',
    "NaN in a list": b'{"0": {"u": NaN}, "1": {"u": [NaN]}, "2": {"u": "NaN"}}',
    "members that are no objects": b'{"0": {"a": 1}, "1": 2, "2": [], "3": {}}',
    "a key that is no number": b'{"0": {"a": 1}, "x": {}, "1": {}}',
    "a first key that is none": b'{"x": {"a": 1}, "1": {}}',
    "a key with an escape": b'{"0": {"a": 1}, "\\u0039": {}}',
    "no dialogue": b" \n{ }\t",
    "a cut in a text": b'{"0": {"a": "}, "7": {"}}',
    "a comma too many": b'{"0": {"a": 1}, "1": {},}',
    "no end": b'{"0": {"a": 1}, "1": {"a": [}',
    "no text": b"",
    "no object": b"[{}]",
    "no end of a dialogue": b'{"0": {"a": 1}, "1": {"a": 2}',
    "something behind the end": b'{"0": {"a": 1}, "1": {}} 2',
    "a bracket behind the end": b'{"0": {"a": 1}, "1": {}}}',
}


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL.keys())
@pytest.mark.parametrize("size", [1, 16, 1_000])
def test_a_file_in_doubt_is_told(text: bytes, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.json").write_bytes(text)
    monkeypatch.setattr(parts, "_SIZE", size)
    monkeypatch.setattr(sources, "_PIECE", 7)
    with pytest.raises(RereadRequested):
        read(tmp_path / "x.json")


@pytest.mark.parametrize(
    "text",
    [
        b'{"0": {"a": "}, \\"1\\": {"}, "9": {}}',
        b' \n{ "0"\t:\r{} , "007" : { "a" : [ {} ] } } ',
        b'{"5": {}}',
        b'{"0": {"u": NaN}, "1": {"u": NaN, "v": 0E0}, "2": {"u": "NaN"}}',
    ],
)
@pytest.mark.parametrize("size", [1, 16, 1_000])
def test_what_is_odd_is_not_doubtful(text: bytes, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.json").write_bytes(text)
    monkeypatch.setattr(parts, "_SIZE", size)
    monkeypatch.setattr(sources, "_PIECE", 7)
    assert read(tmp_path / "x.json") == [(json.loads(f'"{one.token}"'), one.raw) for one in json_members.members(text)]


def test_a_file_in_doubt_is_read_again_whole(
    build_data: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "mantis"
    folder.mkdir(parents=True)
    talks = [json.dumps(Inventor(["a", "b", "c"], seed).usual()) for seed in range(40)]
    members = [f'"{index}": {talk}' for index, talk in enumerate(talks)]
    members[30] = '"30": {"malformed"}'
    (folder / "merged_train.json").write_text("{" + ", ".join(members) + "}", encoding="utf-8")
    (folder / "merged_dev.json").write_text(json.dumps({"7": json.loads(talks[0])}), encoding="utf-8")
    monkeypatch.setattr(parts, "_SIZE", 3_000)
    monkeypatch.setattr(batches, "_BATCH_BYTES", 3_000)
    monkeypatch.setattr(batches, "_FEW", 1)
    with build_data(tmp_path / "data") as con:
        assert con.execute("select count(*), count(distinct dialogue_id) from main.dialogues").fetchall() == [(40, 40)]
        assert con.execute("select pointer, rule from meta.quarantine").fetchall() == [("/30", "TH-01")]
        counts = "select records_in, records_loaded, records_quarantined from meta.source_files order by path"
        assert con.execute(counts).fetchall() == [(1, 1, 0), (40, 39, 1)]
