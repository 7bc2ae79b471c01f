"""Rows of cells or objects to dialogues and back: ``format = "turns"``."""

import csv
import io
import itertools
import json
from datetime import datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import (
    Annotations,
    Dialect,
    DialogueFields,
    Files,
    SpeakerFields,
    TurnFields,
)
from talkhouse.ingest.declared.rows import json_frames, spool
from talkhouse.ingest.declared.rows.columns import ID
from talkhouse.ingest.declared.rows.write_rows import StoredRow, in_order_of_lines
from talkhouse.ingest.rows import Annotation, Dialogue, Participant, Record, Speaker, Turn
from tests.conftest import invented_examples
from tests.declared.rows_loaded import Read, declared, json_lines, json_text, read, read_back, restored, stored

PIER = DialogueFields(id=("d",), title=("title",), split=("fold",))
SAID = TurnFields(
    id=("u",), text=("text",), role=("role",), speaker=("who",), said_at=("at",), reply_to=("to",), order=("n",)
)


def table(*rows: str, header: str) -> bytes:
    return "".join(f"{row}\n" for row in (header, *rows)).encode()


def test_rows_of_one_dialogue_become_one_record_with_all_of_their_cells() -> None:
    raw = table('c1,007,ann,"a, b",x', "c1,008,,,", "c2,1,bo, c ,007", header="d,u,who,text,mood")
    result = read_back(declared(turn=TurnFields(id=("u",), text=("text",), speaker=("who",))), {"a.csv": raw})
    assert [(row.record_id, row.source_pointer, row.split) for row in result.of(Record)] == [
        ("quay/a.csv/0", "/1", "all"),
        ("quay/a.csv/1", "/3", "all"),
    ]
    assert [(row.native_id, row.text, row.speaker_id, row.role, row.extra) for row in result.of(Turn)] == [
        ("007", "a, b", "quay:ann", "speaker", '{"mood":"x"}'),
        ("008", "", None, "speaker", '{"mood":""}'),
        ("1", " c ", "quay:bo", "speaker", '{"mood":"007"}'),
    ]
    assert [row.dialogue_id for row in result.of(Dialogue)] == ["quay:c1", "quay:c2"]
    assert [row.kind for row in result.of(Speaker)] == ["human", "human"]
    assert [row.role for row in result.of(Participant)] == ["speaker", "speaker"]


@pytest.mark.parametrize(
    "raw",
    [
        table("0,c,hi", "1,c,ho", header=",d,text"),
        table("0,c,hi,x", "1,c,ho,y", header=",d,text,column_0"),
        table("0,c,hi,x", "1,c,ho,y", header=",d,text,"),
    ],
)
def test_a_column_without_a_name_is_one_like_others(raw: bytes) -> None:
    """As pandas writes its index."""
    result = read_back(declared(turn=TurnFields(text=("text",))), {"a.csv": raw})
    assert [json.loads(turn.extra or "")[""] for turn in result.of(Turn)] == ["0", "1"]


def test_scattered_rows_are_gathered_by_order_and_their_lines_kept() -> None:
    raw = table("b\t2\tfour", "a\t10\tthree", "b\t1\tone", 'a\t9\t"two', header="d\tn\ttext")
    declaration = declared(turn=TurnFields(text=("text",), order=("n",)), dialect=Dialect(quote_char=""))
    result = read_back(declaration, {"a.tsv": raw})
    assert result.turns("quay:b") == [("speaker", "one"), ("speaker", "four")]
    assert result.turns("quay:a") == [("speaker", '"two'), ("speaker", "three")]
    assert [(row.native_id, row.source_pointer, row.extra) for row in result.of(Record)] == [
        ("b", "/1", '{"lines":[3,1]}'),
        ("a", "/2", '{"lines":[4,2]}'),
    ]


def test_replies_are_by_the_ids_of_turns() -> None:
    rows = ("c,x,,a", "c,y,x,b", "c,z,q,c", "c,y,z,d", "c,p,p,e", "e,x,y,f", "e,y,x,g")
    result = read_back(
        declared(turn=TurnFields(id=("u",), text=("text",), reply_to=("to",))),
        {"a.csv": table(*rows, header="d,u,to,text")},
    )
    assert [turn.reply_to for turn in result.of(Turn)] == [None, 0, None, 2, None, None, None]
    assert result.places == [
        ("GF-06", "a.csv#/4/u"),
        ("GF-07", "a.csv#/3/to"),
        ("GF-07", "a.csv#/6/to"),
        ("GF-07", "a.csv#/7/to"),
    ]
    assert result.of(Turn)[2].extra == '{"to":"q"}'


def test_the_first_row_that_says_something_of_the_dialogue_counts() -> None:
    raw = table("c,,train,a", "c,Pier,train,b", "c,Mole,train,c", "c,Mole,dev,d", header="d,title,fold,text")
    result = read_back(declared(dialogue=PIER), {"a.csv": raw})
    assert [row.title for row in result.of(Dialogue)] == ["Pier"]
    (record,) = result.of(Record)
    assert (record.split, record.standard_split) == ("train", "train")
    assert json.loads(record.extra or "{}") == {
        "differs": {"/0/title": "", "/2/title": "Mole", "/3/title": "Mole", "/3/fold": "dev"}
    }
    assert result.places == [("GF-18", "a.csv#/3/title"), ("GF-18", "a.csv#/4/fold")]


def test_the_same_words_in_two_files_are_one_dialogue_and_others_another() -> None:
    files = {
        "a.csv": table("c,hi,1", "c,ho,2", header="d,text,note"),
        "b.csv": table("c,hi,1", "c,ho,3", header="d,text,note"),
        "c.csv": table("c,ha,1", header="d,text,note"),
    }
    result = read_back(declared(), files)
    assert [str(row.dialogue_id)[:7] for row in result.of(Record)] == ["quay:c", "quay:c", "quay:c~"]
    assert [row.extra and "differs" in row.extra for row in result.of(Record)] == [None, True, None]
    assert len(result.of(Turn)) == 3
    assert result.places == [("GF-04", "c.csv#/1")]


def test_without_an_id_a_file_is_one_dialogue() -> None:
    result = read_back(declared(dialogue=DialogueFields()), {"a.csv": table("a", "b", header="text")})
    assert [(row.dialogue_id, row.native_id) for row in result.of(Dialogue)] == [("quay:a.csv/0", None)]


def test_times_that_a_column_does_not_give_back_stay() -> None:
    raw = table("c,2026-01-02 10:00,a", "c,2 Jan,b", "c,,c", "c,2026-01-02 9:30,d", header="d,at,text")
    declaration = declared(turn=TurnFields(text=("text",), said_at=("at",)), times={"said_at": "%Y-%m-%d %H:%M"})
    result = read_back(declaration, {"a.csv": raw})
    assert [row.said_at for row in result.of(Turn)] == [
        datetime(2026, 1, 2, 10),  # noqa: DTZ001 - the wall clock
        None,
        None,
        datetime(2026, 1, 2, 9, 30),  # noqa: DTZ001 - the wall clock
    ]
    assert [row.extra for row in result.of(Turn)] == [None, '{"at":"2 Jan"}', None, '{"at":"2026-01-02 9:30"}']
    assert result.places == [("GF-09", "a.csv#/2/at")]


def test_raters_have_a_column_each() -> None:
    raw = table("c,a,calm,NA", "c,b,,cross", "c,c,NA,", header="d,text,r1,r2")
    mood = Annotations("mood", 0, columns=("r1", "r2"), missing_values=("", "NA"))
    result = read_back(declared(annotations=(mood,)), {"a.csv": raw})
    assert [
        (row.turn_index, row.annotator_index, row.annotator_id, row.label, row.scheme) for row in result.of(Annotation)
    ] == [(0, 0, "r1", "calm", "quay.mood"), (1, 1, "r2", "cross", "quay.mood")]
    assert [row.extra for row in result.of(Turn)] == ['{"r2":"NA"}', None, '{"r1":"NA"}']


@pytest.mark.parametrize(
    ("raw", "place", "detail"),
    [
        (b"d,utterance\nc,a\n", "GF-12#/0", "'text'"),
        (b"d,text,text\nc,a,b\n", "GF-12#/0", "twice"),
        (b"d,text\nc,a\nc,b,x\n", "GF-13#/2", "3 cells"),
        (b'd,text\nc,"a\n', "GF-13#/1", "never closed"),
        (b"d,text\nc,\xff\n", "TH-02#/1", "UTF-8"),
    ],
)
def test_a_file_with_a_bad_row_is_refused_whole(raw: bytes, place: str, detail: str) -> None:
    result = read_back(declared(), {"a.csv": raw, "b.csv": table("c,a", header="d,text")})
    (rejected,) = result.rejected
    assert (f"{rejected.rule}#{rejected.location.pointer}{rejected.at}", rejected.raw) == (place, raw)
    assert detail in rejected.detail
    assert len(result.of(Record)) == 1


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(["", "a", "0", "1", "x y"])
HEADER = ("d", "title", "fold", "u", "text", "role", "who", "at", "to", "n", "r1", "lines", "*")
RICH = declared(
    dialogue=PIER,
    turn=SAID,
    speaker=SpeakerFields(scope="dialogue"),
    roles={"guest": "user", "a": "user"},
    annotations=(Annotations("mood", 0, columns=("r1",), missing_values=("NA", "")),),
)


def written(rows: list[list[str]]) -> bytes:
    """Write cells as Python does; a table that begins with an empty one has its columns the other way round."""
    out = io.StringIO()
    turn = -1 if rows and rows[0][1] == "" else 1
    csv.writer(out, lineterminator="\n").writerows(row[::turn] for row in [list(HEADER), *rows])
    return out.getvalue().encode()


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    rows = []
    for number in range(draw(st.integers(0, 5))):
        row = {name: draw(CELLS) for name in HEADER} | {"n": str(draw(st.integers(0, 3))), "u": str(number % 4)}
        rows.append([*(row | {"d": draw(st.sampled_from(["1", "01", ""]))}).values()])
    return rows


@given(tables(), tables())
def test_any_cells_come_back(rows: list[list[str]], others: list[list[str]]) -> None:
    result = read_back(RICH, {"a.csv": written(rows), "b.csv": written(others)})
    assert len(result.of(Turn)) <= len(rows) + len(others)
    assert not result.rejected


@invented_examples(50)
@given(st.permutations(range(6)))
def test_shuffled_rows_with_an_order_are_the_sorted_ones(order: list[int]) -> None:
    declaration = declared(turn=TurnFields(id=("u",), text=("text",), reply_to=("to",), order=("n",)))
    rows = [f"{'ab'[n % 2]},{n},u{n},u{n - 2},t{n}" for n in range(6)]
    header = "d,n,u,to,text"
    shuffled = table(*(rows[n] for n in order), header=header)
    result, plain = (read(declaration, {"a.csv": raw}) for raw in (shuffled, table(*rows, header=header)))
    for key in ("quay:a", "quay:b"):
        assert result.turns(key) == plain.turns(key)
    assert restored(result) == {"a.csv": shuffled}


PLAIN = b'd,u,who,text,at\nc1,u1,ann,"a, ""b""",2026-01-02\nc2,u1,bo,c,\nc1,u2,,"d\ne",2026-01-03\n'


ADDED = st.sampled_from([b"", b",", b'"', b"\n", b"\r", b"\xff", b"\0", b"c2"])


@given(st.integers(0, len(PLAIN)), st.integers(0, 2), ADDED)
def test_with_one_mutation_a_file_is_named_or_loads(start: int, removed: int, added: bytes) -> None:
    raw = PLAIN[:start] + added + PLAIN[start + removed :]
    turn = TurnFields(id=("u",), text=("text",), speaker=("who",), said_at=("at",))
    result = read_back(declared(turn=turn), {"a.csv": raw})
    assert {item.rule for item in result.rejected} <= {"GF-12", "GF-13", "TH-02"}
    assert bool(result.rejected) != bool(result.of(Turn))


JSON_LINES = (
    b'{"d":"a","text":"x","n":2,"more":{"k":1.50}}\n'
    b'{"text":"y","d":"b","n":1}\n'
    b"\n"
    b'{"d":"a","text":"z","n":1,"lines":null}'
)


def test_json_lines_are_rows() -> None:
    result = read_back(declared(turn=TurnFields(text=("text",), order=("n",))), {"a.jsonl": JSON_LINES})
    assert result.turns("quay:a") == [("speaker", "z"), ("speaker", "x")]
    assert [(row.source_pointer, row.extra) for row in result.of(Record)] == [("/0", '{"lines":[3,0]}'), ("/1", None)]


def test_a_list_and_a_packed_file_are_rows_too() -> None:
    rows = [json.loads(line) for line in JSON_LINES.splitlines() if line]
    result = read(declared(), {"a.json": json.dumps(rows, separators=(",", ":")).encode()})
    assert [turn.text for turn in result.of(Turn)] == ["x", "z", "y"]
    assert json.loads(restored(result)["a.json"]) == rows


def test_the_rows_of_a_record_alone() -> None:
    result = read(declared(), {"a.csv": b"d,text,more\na,x,\nb,y,\na,z,1\n"})
    assert result.corpus.write_record is not None
    record = next(record for record in stored(result) if record.record)
    assert result.corpus.write_record(record) == b'{"d":"a","text":"x","more":""}\n{"d":"a","text":"z","more":"1"}'


def test_splits_of_a_column_are_those_of_records() -> None:
    declaration = declared(
        dialogue=DialogueFields(id=("d",), split=("s",)), files=(Files("**", 0, split="train"),), splits={"x": "test"}
    )
    result = read_back(declaration, {"a.csv": b"d,s,text\na,x,1\nb,dev,1\nc,,1\n"})
    splits = [(row.split, row.standard_split) for row in result.of(Record)]
    assert splits == [("x", "test"), ("dev", "validation"), ("train", "train")]


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


# What is wrong in a row sets aside a cell, or else its dialogue; only a row of no dialogue refuses the file.

TURNS = 'title = "Gate"\nformat = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "text"\nspeaker = "who"\norder = "n"\n'


def loaded(rows: list[Any], toml: str = TURNS) -> Read:
    """Read rows as a list of JSON and as JSON Lines, to the same; all of them have to come back."""
    result, other = read_back(toml, {"a.json": json_text(rows)}), read_back(toml, {"a.jsonl": json_lines(*rows)})
    assert [row.text for row in result.of(Turn)] == [row.text for row in other.of(Turn)]
    return result


IDS = {"d": st.sampled_from(["a", "b", "c"])}
OPTIONAL_CELLS = {
    "text": st.sampled_from(["x", "y", None, 7, [1]]),
    "n": st.sampled_from([1, 2, None, "z", {}]),
    "who": st.sampled_from(["ida", None, {}, 3]),
    "more": st.sampled_from([[1.50], {"shape": 1}, ""]),
}


@pytest.mark.slow
@given(st.lists(st.fixed_dictionaries(IDS, optional=OPTIONAL_CELLS), max_size=9), st.integers(1, 3))
def test_whatever_is_wrong_each_dialogue_is_loaded_or_set_aside(rows: list[dict[str, Any]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "_IN_MEMORY", 300 * size)
        patch.setattr(spool, "_SLICE", size)
        patch.setattr(json_frames, "_ROWS", size)
        result = loaded(rows)
    bad = {row["d"] for row in rows if not isinstance(row.get("text"), str | None)}
    assert {item.location.native_id for item in result.rejected} == bad
    assert {row.native_id for row in result.of(Record)} == {row["d"] for row in rows} - bad
