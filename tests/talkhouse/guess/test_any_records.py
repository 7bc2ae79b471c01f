"""Whatever records are: looking at them raises nothing, and what is written of them is a declaration that reads."""

import json
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from talkhouse.guess.inspection import inspected
from talkhouse.guess.new_declaration import new_declaration
from talkhouse.guess.sample import start_of
from talkhouse.ingest.declared.declaration import of_folder
from tests.conftest import invented_examples
from tests.talkhouse.guess.folders import write

NAMES = st.sampled_from(
    [
        *("id", "messages", "role", "content", "from", "value", "conversations", "prompt", "chosen", "rejected"),
        *("instruction", "output", "text", "speaker", "replies", "dialogue_id", "turn_id", "parent_id"),
        *("time", "split"),
        *("a.b", "'", "x y", "$", "[*]", "\n", "", "\U0001f373"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["user", "A: Hi\nB: Ho\nA: So", "", "2026-01-01", "c1", "\n\nHuman: x\n\nAssistant: y", "train"]),
    st.text(max_size=20),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=25
)
RECORDS = st.lists(st.dictionaries(NAMES, VALUES, max_size=6) | VALUES, max_size=6)


@invented_examples(150)
@given(RECORDS, st.sampled_from(["a.jsonl", "train.json", "member.json"]))
def test_any_records_give_a_declaration_that_reads(records: list[Any], name: str) -> None:
    if name == "a.jsonl":
        content = "".join(json.dumps(record) + "\n" for record in records)
    else:
        content = json.dumps({str(n): r for n, r in enumerate(records)} if name == "member.json" else records)
    with TemporaryDirectory() as place:
        folder = write(Path(place) / "talks", {name: content.encode()})
        seen = new_declaration(folder)
        if seen.guess is None:
            assert "format" not in tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))
        else:
            assert of_folder(folder).format == seen.guess.format
        shown = inspected(folder / name)
        assert json.dumps(shown.as_data())
        assert all(isinstance(cell, str) for line in shown.lines for cell in line)


@invented_examples(150)
@given(st.lists(VALUES, max_size=4), st.integers(0, 120), st.integers(1, 5))
@example([1, [2], 3], 20, 2)
def test_the_beginning_of_a_list_that_is_cut_off(values: list[Any], length: int, most: int) -> None:
    text = json.dumps(values)
    first, is_whole = start_of(text[:length], most)
    assert is_whole == (length >= len(text) and len(values) <= most)
    assert len(first or ()) < 2 or first == values[: min(most, len(first))]  # the only one may itself be cut off


def test_the_beginning_of_other_values() -> None:
    assert start_of("[1, 2", 10) == ([1, 2], False)
    assert start_of('{"a": [{"b": 1}, {"b"', 10) == ({"a": [{"b": 1}]}, False)
    texts = ('{"a": {"b": "c', "[[[[[[[[", '{"a" 1}', "nul", "")
    assert [start_of(text, 10)[0] for text in texts] == [{"a": {}}, [[[[[[[[]]]]]]]], {}, None, None]


@invented_examples(150)
@given(
    st.sampled_from(["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.jsonl.gz"]),
    st.binary(max_size=200),
)
def test_any_bytes_give_a_declaration_that_reads(name: str, content: bytes) -> None:
    with TemporaryDirectory() as place:
        folder = write(Path(place) / "talks", {name: content})
        if new_declaration(folder).guess is not None:
            of_folder(folder)
        inspected(folder / name)
