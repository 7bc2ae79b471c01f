"""``talkhouse score`` on 5 million rows of mantis.response_ranking_50, beside ranks by Polars alone; and intervals.

    uv run python -m benchmarks.score_time [--blocks 100000] [--messages 5000]

The lists are invented, in the sample's warehouse; predictions are a Parquet file of example_index and score. The peer
reads the same file, and knows nothing of keys, splits or ties. For intervals each list is a dialogue of its own, the
most that can be drawn. Messages of DeliData with scores are the worst case of a metric that is no mean.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from benchmarks.command import TALKHOUSE
from talkhouse.build.progress import Silent
from talkhouse.build.run import build

_SIZE = 51

_INVENT = """
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
copy (select range::integer as example_index, random() as score from range({blocks} * {size})) to '{predictions}';
copy (select random() from range({blocks} * {size})) to '{predictions}.txt' (header false, format csv);
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
create or replace view delidata.change_of_mind as from delidata.invented;
"""

_PEER = """
import sys, polars as pl
scores = pl.read_parquet(sys.argv[1]).with_columns(block=pl.col("example_index") // 51)
gold = scores.filter(pl.col("example_index") % 51 == 0).select("block", gold="score")
ranks = scores.join(gold, on="block").group_by("block").agg(rank=(pl.col("score") >= pl.col("gold")).sum())
print((1 / ranks["rank"]).mean())
"""


def measured(command: list[str]) -> dict[str, float]:
    """Run a command: seconds and peak megabytes, interpreter and imports included."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.command", *command], check=True, stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Invent the lists, and measure both ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=100_000, help="lists of 51 candidates")
    parser.add_argument("--messages", type=int, default=5_000, help="of dialogues of 25")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warehouse, predictions = Path(folder, "w.duckdb"), Path(folder, "scores.parquet")
        build(warehouse, Silent())
        warehouse.chmod(0o600)
        with duckdb.connect(warehouse) as con:
            con.execute(_INVENT.format(blocks=options.blocks, size=_SIZE, predictions=predictions))
            con.execute(_MESSAGES.format(messages=options.messages))
        lists = [*TALKHOUSE, "score", "mantis.response_ranking_50", str(predictions), "--split", "test"]
        messages = [*TALKHOUSE, "score", "delidata.change_of_mind", "--baseline", "random"]
        lines = [*TALKHOUSE, "score", "mantis.response_ranking_50", f"{predictions}.txt", "--split", "test"]
        ours = {"lists": [*lists, "--db", str(warehouse)], "messages": [*messages, "--db", str(warehouse)]}
        ways = {
            "lists": ours["lists"],
            "lists, a score a line": [*lines, "--db", str(warehouse)],
            "lists, polars, unchecked": [sys.executable, "-c", _PEER, str(predictions)],
            "lists, intervals": [*ours["lists"], "--interval"],
            "messages": ours["messages"],
            "messages, intervals": [*ours["messages"], "--interval"],
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(options.rounds):
            for name, command in ways.items():
                used = measured(command)
                taken[name].append(used["process"])
                print(f"{turn} {name}: {used['process']:.2f} s, cpu {used['cpu']:.2f} s, {used['peak']:.0f} MB")
        for name in ours:
            ratio = statistics.median(taken[f"{name}, intervals"]) / statistics.median(taken[name])
            print(f"{name}: intervals take {ratio:.1f} times as long as the score alone")


if __name__ == "__main__":
    main()
