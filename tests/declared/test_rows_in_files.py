"""Rows of other files than CSV, and rows of which there are more than fit in memory."""

import itertools
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import DialogueFields, Files, TurnFields
from talkhouse.ingest.declared.rows import spool
from talkhouse.ingest.declared.rows.columns import ID
from talkhouse.ingest.declared.rows.write_rows import StoredRow, in_order_of_lines
from talkhouse.ingest.rows import Record, Turn
from tests.declared.rows_loaded import declared, read, restored, stored

LINES = (
    b'{"d":"a","text":"x","n":2,"more":{"k":1.50}}\n'
    b'{"text":"y","d":"b","n":1}\n'
    b"\n"
    b'{"d":"a","text":"z","n":1,"lines":null}'
)


def test_json_lines_are_rows() -> None:
    made = read(declared(turn=TurnFields(text=("text",), order=("n",))), {"a.jsonl": LINES})
    assert made.said("quay:a") == [("speaker", "z"), ("speaker", "x")]
    assert [(row.source_pointer, row.extra) for row in made.of(Record)] == [("/0", '{"lines":[3,0]}'), ("/1", None)]
    assert restored(made) == {"a.jsonl": LINES}


def test_a_list_and_a_packed_file_are_rows_too() -> None:
    rows = [json.loads(line) for line in LINES.splitlines() if line]
    made = read(declared(), {"a.json": json.dumps(rows, separators=(",", ":")).encode()})
    assert [turn.text for turn in made.of(Turn)] == ["x", "z", "y"]
    assert json.loads(restored(made)["a.json"]) == rows


def test_the_rows_of_a_record_alone() -> None:
    made = read(declared(), {"a.csv": b"d,text,more\na,x,\nb,y,\na,z,1\n"})
    assert made.corpus.write_record is not None
    record = next(record for record in stored(made) if record.record)
    assert made.corpus.write_record(record) == b'{"d":"a","text":"x","more":""}\n{"d":"a","text":"z","more":"1"}'


def test_an_order_that_is_no_number_refuses_the_file() -> None:
    declaration = declared(turn=TurnFields(text=("text",), order=("n",)))
    for cell in ("", "first", "nan", "inf"):
        made = read(declaration, {"a.csv": f"d,n,text\na,1,x\na,{cell},y\n".encode()})
        assert made.places == [("GF-01", "a.csv#/2/n")]


def test_splits_of_a_column_are_those_of_records() -> None:
    declaration = declared(
        dialogue=DialogueFields(id=("d",), split=("s",)), files=(Files("**", 0, split="train"),), splits={"x": "test"}
    )
    made = read(declaration, {"a.csv": b"d,s,text\na,x,1\nb,dev,1\nc,,1\n"})
    splits = [(row.split, row.standard_split) for row in made.of(Record)]
    assert splits == [("x", "test"), ("dev", "validation"), ("train", "train")]
    assert restored(made) == {"a.csv": b"d,s,text\na,x,1\nb,dev,1\nc,,1\n"}


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=5), st.integers(1, 9))
def test_rows_that_do_not_fit_in_memory_come_by_dialogue(parts: list[list[str]], most: int) -> None:
    ids = [name for part in parts for name in part]
    with pytest.MonkeyPatch.context() as patch, spool.Spool() as rows:
        patch.setattr(spool, "_IN_MEMORY", most)
        patch.setattr(spool, "_SLICE", most)
        for part in parts:
            rows.add(pl.DataFrame({ID: part}, {ID: pl.String}))
        pieces = list(rows.dialogues())
    came = [(name, position) for piece in pieces for name, position in piece.select(ID, spool.POSITION).rows()]
    assert came == sorted(((name, at) for at, name in enumerate(ids)), key=lambda row: (ids.index(row[0]), row[1]))
    ends = [(piece[spool.NUMBER][0], piece[spool.NUMBER][-1]) for piece in pieces]
    assert all(last < first for (_, last), (first, _) in itertools.pairwise(ends))


def test_rows_on_their_way_back_are_sorted_by_line() -> None:
    rows = [StoredRow(line, {"n": str(number).encode()}) for number, line in enumerate([3, 1, 1, 2])]
    assert [row.cells["n"] for row in in_order_of_lines(rows)] == [b"1", b"2", b"3", b"0"]
