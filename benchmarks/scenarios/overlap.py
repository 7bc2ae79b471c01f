"""Texts that stand in two places, among a million turns and more that repeat each other."""

from functools import partial
from pathlib import Path

import duckdb

from benchmarks.scenario import Case, Scenario, command
from benchmarks.warehouses import write_samples

_PLACES = """
delete from main.turns;
delete from main.examples;
delete from main.records;
insert into main.records by name
select
    'mantis/invented/' || i as record_id,
    'mantis' as corpus_id,
    'mantis:invented:' || i as dialogue_id,
    ['train', 'train', 'train', 'train', 'train', 'train', 'train', 'train', 'dev', 'test'][1 + (hash(i) % 10)::integer]
        as split,
    i::integer as record_index,
    (select min(source_file_id) from meta.source_files where corpus_id = 'mantis') as source_file_id,
    '/' || i as source_pointer,
from range({turns} // 10) as numbers(i);
insert into main.turns by name
select
    'mantis:invented:' || i // 10 as dialogue_id,
    (i % 10)::integer as turn_index,
    if(i % 2 = 0, 'user', 'agent') as role,
    'message' as kind,
    ({text}) as text,
from range({turns}) as numbers(i);
insert into main.examples by name
select
    'mantis' as corpus_id,
    'response_ranking' as task,
    split,
    row_number() over (partition by split order by dialogue_id, turn_index)::integer - 1 as example_index,
    record_id,
    dialogue_id,
    turn_index,
from main.turns inner join main.records using (dialogue_id)
where turn_index % 2 = 1
"""

_WORD = "'w' || (power((hash({}) % 1000003) / 1000003, 3) * 20000)::integer"
"""One of 20,000 words, the first ones the most frequent."""

_EARLY = "i % ({turns} * 3 // 4)"
_REPEATING = f"""
select string_agg({_WORD.format(f"if(place = i % 37, i, {_EARLY}), place")}, ' ' order by place)
from range(3 + (hash({_EARLY}) % 14)::integer) as places(place)
"""
"""A quarter of the turns says again what an early one says, and where the text is long enough, with another word."""

_SENTENCE = " ".join(f"please{number}" for number in range(20))
_ONE_SENTENCE = f"""
select '{_SENTENCE} ' || string_agg('own' || hash(i, place) % 10000000, ' ' order by place)
from range(if(i % 1000 = 0, 5, 12)) as places(place)
"""
"""Each turn has the same sentence and words of its own; one of a thousand is mostly the sentence."""

_CASES = {
    "100,000 turns": (100_000, _REPEATING),
    "1 million turns": (1_000_000, _REPEATING),
    "10 million turns": (10_000_000, _REPEATING),
    "1 million turns, one sentence in all": (1_000_000, _ONE_SENTENCE),
}


def _case(turns: int, text: str, folder: Path) -> Case:
    warehouse, output = folder / "w.duckdb", folder / "overlap.duckdb"
    write_samples(warehouse, only=("mantis",))
    with duckdb.connect(warehouse) as con:
        con.execute(_PLACES.format(turns=turns, text=text.format(turns=turns)))
    options = ("--threads", "2", "--memory-limit", "8GB" if turns > 1_000_000 else "3GB")
    return Case((command("overlap", "--db", warehouse, "--output", output, *options, writes=output),), turns)


SCENARIO = Scenario(
    name="overlap",
    title="Texts that stand in two places",
    cases={name: partial(_case, turns, text) for name, (turns, text) in _CASES.items()},
    quick=("100,000 turns",),
    measure="cpu",
    notes=(
        "Of the turns a quarter says again what another says, most of them with another word; half of the turns are "
        "examples, whose contexts are compared too.",
        "One sentence in all: each turn has it beside words of its own, the worst for what a text contains; one of a "
        "thousand consists mostly of it.",
        "No peer: tools that find near duplicates by MinHash drop short texts, miss pairs, and name no place.",
    ),
)
