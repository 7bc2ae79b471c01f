"""Files of labels, a row a label: for dialogues that were read before, and back to the byte."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, Files, TurnFields
from talkhouse.ingest.rows import Annotation, Record
from tests.declared.rows_loaded import declared, read_back

TALKS = b"d,u,text\nc1,u1,Mind the gap.\nc1,u2,\xf0\x9f\xa5\xb6 cold\nc2,u1,Yes\n"
FILES = (Files("talks.csv", 0), Files("labels.*", 0, holds="annotations"))
PLACE = Annotations(
    "place",
    0,
    label=("label",),
    annotator=("by",),
    start=("from",),
    end=("to",),
    from_file="labels.*",
    dialogue=("conv",),
    turn=("utt",),
)


def labelled(*specs: Annotations, **parts: Any) -> Declaration:
    return declared(files=FILES, annotations=specs, **{"turn": TurnFields(id=("u",), text=("text",))} | parts)


def test_a_record_is_the_rows_of_a_dialogue() -> None:
    rows = (b"u2,c1,mood,s2,2,6,x", b"u1,c2,yes,s1,,,", b"u1,c1,thing,s1,9,12,", b"u1,c1,thing,s2,0,4,", b"")
    raw = b"\n".join((b"utt,conv,label,by,from,to,note", *rows))
    result = read_back(labelled(PLACE), {"talks.csv": TALKS, "labels.csv": raw})
    assert [(row.record_id, row.dialogue_id, row.split, row.source_pointer) for row in result.of(Record)][2:] == [
        ("quay/labels.csv/0", "quay:c1", None, "/1"),
        ("quay/labels.csv/1", "quay:c2", None, "/2"),
    ]
    assert [
        (row.turn_index, row.annotator_index, row.annotator_id, row.label, row.start_index, row.end_index, row.extra)
        for row in result.of(Annotation)
    ] == [
        (0, 0, "s1", "thing", 9, 12, '{"note":""}'),
        (0, 1, "s2", "thing", 0, 4, '{"note":""}'),
        (1, 0, "s2", "mood", 2, 6, '{"note":"x"}'),
        (0, 0, "s1", "yes", None, None, '{"note":""}'),
    ]


def test_labels_for_nothing_are_refused_with_their_dialogue() -> None:
    raw = b"conv,utt,label,by,from,to\nc9,u1,a,s,,\nc1,u9,a,s,,\nc2,u1,a,s,,\nc1,u1,a,s,,\nc9,u1,b,s,,\n"
    result = read_back(labelled(PLACE), {"talks.csv": TALKS, "labels.csv": raw})
    assert result.places == [("GF-15", "labels.csv#/1"), ("GF-15", "labels.csv#/2")]
    assert ["c9" in result.rejected[0].detail, "u9" in result.rejected[1].detail] == [True, True]
    assert result.rejected[0].raw == b"c9,u1,a,s,,\nc9,u1,b,s,,"
    assert [row.label for row in result.of(Annotation)] == ["a"]


def test_a_span_outside_of_its_text_is_named_and_kept() -> None:
    raw = b"conv,utt,label,by,from,to\nc2,u1,a,s,1,4\nc2,u1,b,s,x,1\nc2,u1,c,s,0,3\n"
    result = read_back(labelled(PLACE), {"talks.csv": TALKS, "labels.csv": raw})
    assert result.places == [("GF-08", "labels.csv#/1/from"), ("GF-08", "labels.csv#/2/from")]
    assert [(row.start_index, row.end_index, row.item_index) for row in result.of(Annotation)] == [
        (None, None, 0),
        (None, None, 1),
        (0, 3, 2),
    ]


def test_offsets_of_browsers_are_converted() -> None:
    raw = b"conv,utt,label,by,from,to\nc1,u2,a,s,0,2\nc1,u2,b,s,3,7\n"
    spec = Annotations(**{**vars(PLACE), "offsets": "utf-16"})
    result = read_back(labelled(spec), {"talks.csv": TALKS, "labels.csv": raw})
    spans = [(row.start_index, row.end_index, row.extra) for row in result.of(Annotation)]
    assert spans == [(0, 1, None), (2, 6, None)]


def test_without_ids_a_turn_is_meant_by_its_index() -> None:
    raw = b"conv\tutt\tscore\nc1\t1\t4.50\nc1\t0\t4\nc2\t00\tNA\nc2\t0\thigh\n"
    spec = Annotations(
        "score", 0, value=("score",), missing_values=("NA",), from_file="labels.tsv", dialogue=("conv",), turn=("utt",)
    )
    result = read_back(labelled(spec, turn=TurnFields(text=("text",))), {"talks.csv": TALKS, "labels.tsv": raw})
    assert [(row.turn_index, row.value, row.extra) for row in result.of(Annotation)] == [
        (0, 4.0, None),
        (1, 4.5, '{"score":"4.50"}'),
    ]
    assert result.places == [("GF-01", "labels.tsv#/4/score")]


def test_labels_in_json_lines_of_whole_dialogues() -> None:
    lines = [{"conv": "c2", "label": 7}, {"label": None, "conv": "c1"}, {"conv": "c2", "label": "x", "more": [1]}]
    raw = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()
    spec = Annotations("topic", 0, on="dialogue", label=("label",), from_file="labels.jsonl", dialogue=("conv",))
    result = read_back(labelled(spec), {"talks.csv": TALKS, "labels.jsonl": raw})
    assert [(row.dialogue_id, row.turn_index, row.label, row.item_index) for row in result.of(Annotation)] == [
        ("quay:c2", None, "7", 0),
        ("quay:c2", None, "x", 1),
    ]


CELLS = {
    "conv": st.sampled_from(["c1", "c2", "c3", ""]),
    "utt": st.sampled_from(["u1", "u2"]),
    "label": st.sampled_from(["a", "b", "", "NA"]),
    "mood": st.sampled_from(["calm", "", "NA"]),
    "by": st.sampled_from(["s1", "s2", ""]),
    "from": st.sampled_from(["0", "1", "01", "9", ""]),
    "to": st.sampled_from(["2", "3", ""]),
    "lines": st.sampled_from(["", "x"]),
}


@given(st.lists(st.fixed_dictionaries(CELLS), max_size=7))
def test_any_labels_come_back_or_are_named(rows: list[dict[str, str]]) -> None:
    raw = "".join(",".join(row) + "\n" for row in [CELLS, *([row[name] for name in CELLS] for row in rows)]).encode()
    mood = Annotations(**{**vars(PLACE), "scheme": "mood", "label": ("mood",), "missing_values": ("NA", "")})
    result = read_back(labelled(PLACE, mood), {"talks.csv": TALKS, "labels.csv": raw})
    assert {item.location.native_id for item in result.rejected} >= {row["conv"] for row in rows} - {"c1", "c2"}


def test_numbers_that_the_column_does_not_hold_are_named_and_kept() -> None:
    numbers = ("9007199254740992", "9007199254740993", "1e23", "-12345678901234567890", "0.1234567890123456789", "many")
    found = [
        ("GF-21", "9007199254740993 is rounded to 9007199254740992.0"),
        ("GF-21", "-12345678901234567890 is rounded to -1.2345678901234567e+19"),
        ("GF-01", "'many' is not a number"),
    ]
    values = [2.0**53, 2.0**53, 1e23, -12345678901234567890.0, 0.12345678901234568]
    of_file = Annotations("n", 0, value=("n",), from_file="labels.*", dialogue=("conv",))
    beside = Annotations("n", 0, on="turn", value=("n",))
    labels = "".join(("conv,n\n", *(f"c1,{number}\n" for number in numbers))).encode()
    turns = "".join(("d,text,n\n", *(f"c1,x,{number}\n" for number in numbers))).encode()
    objects = "".join(f'{{"d":"c1","text":"x","n":{number}}}\n' for number in numbers[:-1]).encode()
    for declaration, files, problems in (
        (labelled(of_file), {"talks.csv": TALKS, "labels.csv": labels}, found),
        (declared(annotations=(beside,)), {"a.csv": turns}, found),
        (declared(annotations=(beside,)), {"a.jsonl": objects}, found[:-1]),
    ):
        result = read_back(declaration, files)
        assert sorted((finding.rule, finding.detail) for finding in result.findings) == sorted(problems)
        assert [row.value for row in result.of(Annotation)] == values
