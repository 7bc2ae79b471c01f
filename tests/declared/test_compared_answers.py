"""Answers to compare: N with scores or ranks, a winner's word; and pairs whose prompts and responses are two lists."""

import json
from pathlib import Path
from typing import Any

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.rows import Candidate, CandidateText
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


def loaded(tables: str, *records: object) -> Read:
    return read_back(f'title = "Quay"\n{tables}', {"a.jsonl": json_lines(*records)})


def answers(result: Read) -> list[tuple[Any, ...]]:
    texts = {row.text_id: row.text for row in result.of(CandidateText)}
    rows = result.of(Candidate)
    return [(row.turn_index, row.position, texts[row.text_id or ""], row.source, row.is_gold) for row in rows]


def rated(*stars: object, **more: object) -> dict[str, object]:
    items = [{"model": f"m{place}", "said": f"s{place}", "stars": count} for place, count in enumerate(stars)]
    return {"ask": "Tea?", "answers": items, **more}


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
