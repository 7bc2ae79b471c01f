"""Answers to compare: N with scores or ranks, a winner's word; and pairs whose prompts and responses are two lists."""

import json
from pathlib import Path
from typing import Any

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.rows import Annotation, Candidate, CandidateText, Turn
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.schema.errors import RegistryError
from tests.declared.rows_loaded import Read, json_lines, read_back

SCORES = 'format = "preference"\n[preference]\nprompt = "ask"\nanswers = "answers[*]"\ntext = "said"\n'
RATED = f'{SCORES}source = "model"\nscore = "stars"\n'
ARENA = (
    'format = "preference"\n[preference]\nanswers = ["a", "b"]\nsource = ["model_a", "model_b"]\nwinner = "winner"\n'
    '[winners]\nmodel_a = 1\nmodel_b = 2\ntie = "all"\n"tie (bothbad)" = "none"\n'
)
ZIP = 'format = "pairs"\n[pair]\nzip = ["questions", "answers[*]"]\n'
COQA = f'{ZIP}system = "story"\nprompt = "input_text"\nresponse = "input_text"\n'


def loaded(tables: str, *records: object) -> Read:
    return read_back(f'title = "Quay"\n{tables}', {"a.jsonl": json_lines(*records)})


def answers(result: Read) -> list[tuple[Any, ...]]:
    texts = {row.text_id: row.text for row in result.of(CandidateText)}
    rows = result.of(Candidate)
    return [(row.turn_index, row.position, texts[row.text_id or ""], row.source, row.is_gold) for row in rows]


def turns(result: Read) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in result.of(Turn)]


def rated(*stars: object, **more: object) -> dict[str, object]:
    items = [{"model": f"m{place}", "said": f"s{place}", "stars": count} for place, count in enumerate(stars)]
    return {"ask": "Tea?", "answers": items, **more}


def test_the_best_of_several_answers_is_said_and_each_is_a_candidate() -> None:
    result = loaded(RATED, rated(2, 7.5, "7"), rated(3, 3), rated(None, 1), rated(None), rated())
    assert turns(result) == [
        *(("user", "Tea?"), ("assistant", "s1")),
        *(("user", "Tea?"), ("assistant", "s0")),
        *(("user", "Tea?"), ("assistant", "s1")),
        *(("user", "Tea?"), ("user", "Tea?")),
    ]
    assert answers(result) == [
        *((1, 0, "s0", "m0", False), (1, 1, "s1", "m1", True), (1, 2, "s2", "m2", False)),
        *((1, 0, "s0", "m0", True), (1, 1, "s1", "m1", True)),
        *((1, 0, "s0", "m0", None), (1, 1, "s1", "m1", True)),
        (None, 0, "s0", "m0", None),
    ]
    assert result.places == [("GF-03", "a.jsonl#/4/answers")]
    assert '"stars":7.5' in (result.of(Candidate)[1].extra or "")


def messages(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def battle(winner: object, a: tuple[str, ...], b: tuple[str, ...]) -> dict[str, object]:
    return {"model_a": "x", "model_b": 7, "winner": winner, "a": messages(*a), "b": messages(*b), "turn": 2}


@pytest.mark.slow
def test_a_winner_a_tie_and_both_bad() -> None:
    long = ("Tea?", "Yes.", "Now?", "Soon.")
    result = loaded(
        ARENA,
        battle("model_a", ("Hi", "one"), ("Hi", "two")),
        battle("model_b", long, (*long[:3], "Later.")),
        battle("tie", ("Hi", "one"), ("Hi", "two")),
        battle("tie (bothbad)", long, (*long[:3], "Later.")),
        battle(None, ("Hi", "one"), ("Hi", "two")),
        battle("who", ("Hi", "one"), ("Ho", "two")),
    )
    assert turns(result) == [
        *(("user", "Hi"), ("assistant", "one")),
        *(("user", "Tea?"), ("assistant", "Yes."), ("user", "Now?"), ("assistant", "Later.")),
        *(("user", "Hi"), ("assistant", "one")),
        *(("user", "Tea?"), ("assistant", "Yes."), ("user", "Now?")),
        ("user", "Hi"),
    ]
    assert answers(result) == [
        *((1, 0, "one", "x", True), (1, 1, "two", "7", False)),
        *((3, 0, "Soon.", "x", False), (3, 1, "Later.", "7", True)),
        *((1, 0, "one", "x", True), (1, 1, "two", "7", True)),
        *((None, 0, "Soon.", "x", False), (None, 1, "Later.", "7", False)),
        *((None, 0, "one", "x", None), (None, 1, "two", "7", None)),
        *((None, 0, "Hi", "x", None), (None, 0, "one", "x", None)),
        *((None, 1, "Ho", "7", None), (None, 1, "two", "7", None)),
    ]
    assert result.places == [("GF-26", "a.jsonl#/5/winner"), ("GF-02", "a.jsonl#/5")]


ODD_ANSWERS: list[Any] = [
    {"ask": [{"role": "user", "content": "Tea?"}], "answers": [{"said": "x", "stars": "n/a", "role": "y", "shape": 1}]},
    {"ask": None, "answers": [{"stars": 1, "said": ""}, {"said": "", "stars": 0, "model": None}]},
    {"ask": "", "answers": [{"stars": [1], "said": [{"role": "assistant", "content": "x"}]}]},
    {"answers": [{"said": {"role": "assistant", "content": "x"}, "stars": 1}, {"said": "y"}], "__proto__": {}},
    {"ask": "Tea?", "answers": [{"said": [], "stars": 2}, {"said": "x", "stars": 1, "fields": {"role": 1}}]},
    {"ask": "Tea?", "answers": [{"said": [], "stars": 2}, {"said": "x", "stars": 2}]},
    {"ask": "Tea?", "answers": [{"said": "same", "stars": 2}, {"said": "same", "stars": True, "model": "m"}]},
    {"ask": "Tea?", "answers": [{"said": "a", "stars": 10**400}, {"said": "b", "stars": "NaN"}]},
]


@pytest.mark.slow
@pytest.mark.parametrize("record", ODD_ANSWERS)
def test_odd_answers_come_back(record: Any) -> None:
    assert loaded(RATED, record, rated(1, 2), record).rejected == []


@pytest.mark.slow
def test_bare_answers_ranks_and_texts_of_their_own() -> None:
    bare = SCORES.replace('text = "said"\n', "")
    message = {"role": "assistant", "content": "z"}
    result = loaded(bare, *({"ask": "Tea?", "answers": items} for items in (["x", "y"], ["x", message])))
    assert [row[2:] for row in answers(result)] == [(text, None, None) for text in ("x", "y", "x", "z")]
    items = [{"said": "x", "rank": 2}, {"said": "y", "rank": 1}]
    result = loaded(f'{SCORES}rank = "rank"\n', {"ask": "Tea?", "answers": items})
    assert [row[-1] for row in answers(result)] == [False, True]
    of_each = 'format = "preference"\n[preference]\nprompt = "ask"\nanswers = ["x.text", "y", "z"]\n'
    of_each += 'score = ["x.n", "ny", "nz"]\n'
    record = {"ask": "Tea?", "x": {"text": "1", "n": 3}, "y": "2", "ny": 4, "z": "3"}
    assert [row[-1] for row in answers(loaded(of_each, record))] == [False, True, None]
    marked = f'{of_each}[markers]\n"\\nA: " = "user"\n"\\nB: " = "assistant"\n'
    opened = {"ask": "\nA: Tea?\nB: ", "x": {"text": "1"}, "y": "2", "z": "3"}
    assert turns(loaded(marked, opened, {**opened, "ny": 1})) == [
        ("user", "Tea?"),
        ("user", "Tea?"),
        ("assistant", "2"),
    ]


@pytest.mark.slow
def test_an_example_is_a_pair_of_a_better_answer_and_a_worse_one(tmp_path: Path) -> None:
    (tmp_path / "data" / "quay").mkdir(parents=True)
    records = [rated(1, 3, 3), rated(2, 2), rated(None, 1), rated(5, 4)]
    (tmp_path / "data" / "quay" / "a.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    task = '[[tasks]]\nname = "better"\nkind = "preference"\n'
    (tmp_path / "data" / "quay" / "corpus.toml").write_text(f'title = "Quay"\n{RATED}{task}')
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", limit=QuarantineLimit("100%"))
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        rows = con.execute("select example_index, record_id, context, chosen, rejected from quay.better order by all")
        assert [(row[0], row[1][-1], *row[2:]) for row in rows.fetchall()] == [
            (0, "0", ["Tea?"], ["s1"], ["s0"]),
            (1, "0", ["Tea?"], ["s2"], ["s0"]),
            (2, "3", ["Tea?"], ["s0"], ["s1"]),
        ]
        items = con.execute("select item_index from main.examples order by example_index").fetchall()
        assert items == [(0,), (1,), (None,)]
        assert con.execute("select count(*) from meta.findings where rule like 'candidate%'").fetchall() == [(0,)]


def test_two_lists_side_by_side_are_pairs() -> None:
    record = {
        "story": "A hall.",
        "questions": [{"input_text": "Where?", "turn_id": 1}, {"turn_id": 2, "input_text": "When?"}],
        "answers": [{"span": "hall", "input_text": "In the hall.", "shape": 1}, {"input_text": "Now."}],
    }
    result = loaded(
        COQA, record, {**record, "questions": [*record["questions"], {"input_text": "Who?"}], "story": None}
    )
    pairs = [("user", "Where?"), ("assistant", "In the hall."), ("user", "When?"), ("assistant", "Now.")]
    assert turns(result) == [("system", "A hall."), *pairs, *pairs, ("user", "Who?")]
    assert result.places == [("GF-03", "a.jsonl#/1/answers")]
    assert json.loads(result.of(Turn)[2].extra or "") == {"shape": 1, "span": "hall", "shape_": 1}


@pytest.mark.slow
def test_lists_of_texts_of_other_lengths_and_empty_ones() -> None:
    result = loaded(
        ZIP,
        {"questions": ["a", "b"], "answers": ["x"], "story": "y"},
        {"questions": ["a", ""], "answers": ["", "y"]},
        {"questions": [], "answers": []},
    )
    assert turns(result) == [("user", "a"), ("assistant", "x"), ("user", "b"), ("user", "a"), ("assistant", "y")]
    assert result.places == [
        ("GF-03", "a.jsonl#/0/answers"),
        ("GF-03", "a.jsonl#/1/answers/0"),
        ("GF-02", "a.jsonl#/2"),
    ]
    bad = loaded(ZIP, {"questions": ["a"], "answers": ["x", "y"]}, {"questions": [1], "answers": []}, {"questions": []})
    assert bad.places == [
        ("GF-01", "a.jsonl#/0/answers/1"),
        ("GF-01", "a.jsonl#/1/questions/0"),
        ("GF-01", "a.jsonl#/2"),
    ]


@pytest.mark.slow
def test_a_story_of_another_type_stays_and_loses_no_pair() -> None:
    result = loaded(
        COQA, {"story": ["A hall."], "questions": [{"input_text": "Who?"}], "answers": [{"input_text": "I."}]}
    )
    assert turns(result) == [("user", "Who?"), ("assistant", "I.")]
    assert result.places == [("GF-01", "a.jsonl#/0/story")]


@pytest.mark.slow
def test_labels_stand_in_the_items_of_both_lists() -> None:
    labels = '[[annotations]]\nscheme = "kind"\nlabel = "kind"\non = "turn"\n'
    result = loaded(
        COQA + labels, {"questions": [{"input_text": "a", "kind": "p"}], "answers": [{"input_text": "b", "kind": "q"}]}
    )
    assert [(row.turn_index, row.label) for row in result.of(Annotation)] == [(0, "p"), (1, "q")]


WRONG = {
    f'{ZIP}each = "x"\n': "corpus.toml:5: 'zip' and 'each'",
    ZIP.replace(', "answers[*]"', ""): "corpus.toml:4: 'zip' in [pair]",
    ZIP.replace("answers[*]", "a[*].b"): "corpus.toml:4: 'zip' in [pair]",
    f'{RATED}winner = "w"\n[winners]\na = 1\n': "corpus.toml:9: 'score' and 'winner'",
    f'{SCORES}winner = "w"\n': "corpus.toml:7: 'winner' needs [winners]",
    f"{SCORES}[winners]\na = 1\n": "corpus.toml:7: [winners] without 'winner'",
    f'{SCORES}chosen = "c"\n': "corpus.toml:7: 'answers' and 'chosen'",
    f'{SCORES}score = ["a", "b"]\n': "corpus.toml:7: 'score' in [preference]",
    ARENA.replace("model_b = 2", "model_b = 3"): "corpus.toml:9: 'model_b' in [winners]",
    ARENA.replace('"all"', '"both"'): "corpus.toml:10: 'tie' in [winners]",
    ARENA.replace("model_a = 1", "model_a = true"): "corpus.toml:8: 'model_a' in [winners]",
    ARENA.replace('["a", "b"]', '["a"]'): "corpus.toml:4: 'answers' in [preference]",
    ARENA.replace('winner = "winner"', 'winner = "winner"\ntext = "x"'): "corpus.toml:7: 'text' is for answers",
    'format = "preference"\n[preference]\nscore = "x"\n': "corpus.toml:4: 'score' without 'answers'",
}


@pytest.mark.slow
@pytest.mark.parametrize("tables", WRONG)
def test_what_contradicts_itself_is_refused_at_its_line(tables: str) -> None:
    with pytest.raises(RegistryError) as caught:
        loaded(tables)
    assert WRONG[tables] in str(caught.value)
