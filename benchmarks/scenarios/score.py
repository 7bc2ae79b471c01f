"""Scores of predictions, compared with a pass over the same pairs that checks nothing, and with intervals."""

from functools import partial
from pathlib import Path

import duckdb

from benchmarks.scenario import Case, Scenario, Side, command, peer
from benchmarks.warehouses import make
from talkhouse.schema.sql import literal

_BLOCKS = {"response_ranking_50, 10,000 lists": 10_000, "response_ranking_50, 100,000 lists": 100_000}
_COPIES = 2_741
"""Of the two guided responses of the sample's test split: as many as are published."""

_SIZE = 51
"""Candidates of a list."""


def _guided(folder: Path) -> Case:
    warehouse, table, pairs = folder / "w.duckdb", folder / "predictions.parquet", folder / "pairs.parquet"
    make(warehouse, {"blended_skill_talk": _COPIES})
    _run(warehouse, _GUIDED.format(table=literal(str(table)), pairs=literal(str(pairs))))
    alone, _ = _scores(warehouse, "blended_skill_talk.guided_response", table, "--split", "test")
    return Case((alone, peer("NLTK, the same pairs", "nltk_bleu", pairs)))


def _lists(blocks: int, folder: Path) -> Case:
    warehouse, table, lines = folder / "w.duckdb", folder / "scores.parquet", folder / "scores.txt"
    make(warehouse, {})
    places = {"table": literal(str(table)), "lines": literal(str(lines))}
    _run(warehouse, _LISTS.format(blocks=blocks, size=_SIZE, **places))
    task = ("mantis.response_ranking_50", "--split", "test")
    alone, interval = _scores(warehouse, *task, table)
    by_line = command("score", *task, lines, "--db", warehouse, name="talkhouse score, a score a line")
    return Case((alone, peer("Polars, the same scores", "polars_ranks", table, str(_SIZE)), by_line, interval))


def _messages(folder: Path) -> Case:
    warehouse = folder / "w.duckdb"
    make(warehouse, {})
    _run(warehouse, _MESSAGES.format(messages=5_000))
    return Case(_scores(warehouse, "delidata.change_of_mind", "--baseline", "random"))


SCENARIO = Scenario(
    name="score",
    title="Scores of predictions",
    cases={
        "guided_response": _guided,
        **{name: partial(_lists, blocks) for name, blocks in _BLOCKS.items()},
        "change_of_mind": _messages,
    },
    quick=("guided_response", "response_ranking_50, 10,000 lists"),
    limit={"guided_response": 1.5},
    notes=(
        f"guided_response: {2 * _COPIES:,} texts with rankings of 100; lists have {_SIZE} candidates, and each is a "
        "dialogue, the most that can be drawn for an interval. All are whole processes.",
        "The invented rankings have other candidates each; published ones share most of theirs, which takes less.",
        "The peers compute three of our metrics (F1, BLEU-4, MRR) or one (MRR), trust that each example has one "
        "prediction, and break ties as they come.",
        "change_of_mind: 5,000 messages of 200 dialogues with metrics that are no means, the most work for intervals.",
    ),
)


# Invented rows of three tasks, and predictions of them.

_LISTS = """
create temp table blocks as select i, 'mantis/invented/' || i as record_id from range({blocks}) as t(i);
delete from main.examples where task = 'response_ranking_50' and split = 'test';
insert into main.records by name select
    one.* exclude (record_id, record_index, split, subset, extra, dialogue_id), blocks.record_id,
    (1000 + i)::integer as record_index, 'test' as split, 'mantis_50' as subset,
    json_object('line', i * {size}, 'example', i * {size}, 'size', {size}) as extra
from blocks cross join (from main.records where subset = 'mantis_50' limit 1) as one;
insert into main.candidates by name select
    one.* exclude (record_id, position, is_gold, dialogue_id), blocks.record_id, place as position, place = 0 as is_gold
from blocks cross join range({size}) as p(place)
cross join (from main.candidates where candidate_set = 'mantis_50' and is_gold limit 1) as one;
insert into main.examples by name select
    'mantis' as corpus_id, 'response_ranking_50' as task, 'test' as split,
    (i * {size} + place)::integer as example_index, record_id
from blocks cross join range({size}) as p(place);
copy (select i::integer as example_index, hash(i) / 2e19 as score from range({blocks} * {size}) as t(i)) to {table};
copy (select hash(i) / 2e19 from range({blocks} * {size}) as t(i)) to {lines} (header false, format csv)
"""

_MESSAGES = """
delete from main.examples where task = 'change_of_mind';
insert into main.examples by name select
    'delidata' as corpus_id, 'change_of_mind' as task, 'all' as split, i::integer as example_index,
    'delidata/invented/' || i as record_id, 'delidata:' || i // 25 as dialogue_id
from range({messages}) as t(i);
create table delidata.invented as select
    'all' as split, i::integer as example_index, ['+', '-', '0'][1 + (hash(i) % 3)::bigint] as label
from range({messages}) as t(i);
create or replace view delidata.change_of_mind as from delidata.invented
"""

_GUIDED = """
create temp table guided as select
    example_index, guided_chosen_suggestion as answer,
    label_candidates[1 + (hash(example_index) % 100)::integer] as text,
    [hash(example_index, i) / 2e19 for i in range(len(label_candidates))] as scores
from blended_skill_talk.guided_response where split = 'test';
copy (select example_index, text, scores from guided) to {table};
copy (select text as guess, answer, scores from guided) to {pairs}
"""


def _scores(warehouse: Path, *arguments: str | Path) -> tuple[Side, Side]:
    """Return the sides that score, without intervals and with them."""
    alone = command("score", *arguments, "--db", warehouse, name="talkhouse score")
    return alone, command("score", *arguments, "--interval", "--db", warehouse, name="talkhouse score --interval")


def _run(warehouse: Path, statements: str) -> None:
    with duckdb.connect(warehouse) as con:
        con.execute(statements)
