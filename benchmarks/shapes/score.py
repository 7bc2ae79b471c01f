"""Invented rows of three tasks, and predictions of them."""

from pathlib import Path

import duckdb

from benchmarks.shapes.large_warehouse import make
from talkhouse.schema.sql import literal

SIZE = 51
"""Candidates of a list."""

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


def lists(warehouse: Path, blocks: int) -> tuple[Path, Path]:
    """Make a warehouse with so many lists, and their scores as a table and as one in each line."""
    make(warehouse, {})
    table, lines = warehouse.with_name("scores.parquet"), warehouse.with_name("scores.txt")
    places = {"table": literal(str(table)), "lines": literal(str(lines))}
    _run(warehouse, _LISTS.format(blocks=blocks, size=SIZE, **places))
    return table, lines


def messages(warehouse: Path, number: int) -> None:
    """Make a warehouse with so many labelled messages, of dialogues of 25."""
    make(warehouse, {})
    _run(warehouse, _MESSAGES.format(messages=number))


def guided(warehouse: Path, copies: int) -> tuple[Path, Path]:
    """Make a warehouse with twice so many guided responses, and predictions of them, alone and with what was said."""
    make(warehouse, {"blended_skill_talk": copies})
    table, pairs = warehouse.with_name("predictions.parquet"), warehouse.with_name("pairs.parquet")
    _run(warehouse, _GUIDED.format(table=literal(str(table)), pairs=literal(str(pairs))))
    return table, pairs


def _run(warehouse: Path, statements: str) -> None:
    with duckdb.connect(warehouse) as con:
        con.execute(statements)
