"""A whole ingest of a response-ranking TSV with its conversations, beside DuckDB reading the same lines as text.

    uv run python -m benchmarks.mantis_ranking [--dialogues 5000] [--repeat 3]

The invented ``data_train.tsv`` has 50 wrong responses for each right one and takes about 310 kB a dialogue. Each run
is a process of its own, the kinds in turn. The peer makes a table of one text column of the lines, in memory or in a
file, as fast as DuckDB can: no quotes, no types, order not kept. Of the ingest the whole process counts, start and
checks included; of the peer the reading alone. Peaks are the largest resident sets; the ingest is run on half of the
file too, to show that its memory does not grow with the TSV.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.command import ingest
from benchmarks.mantis_shape import dialogues
from benchmarks.memory import peak

_NEGATIVES = 50
_WINDOW = 11


def invent(folder: Path, count: int) -> float:
    """Write conversations, TSV and lookup file of the train split; gives the megabytes of the TSV."""
    folder.mkdir()
    talks = list(dialogues(count, seed=1))
    (folder / "merged_train.json").write_text(json.dumps(dict(enumerate(talks))), encoding="utf-8")
    texts = [[one["utterance"] for one in talk["utterances"]] for talk in talks]
    answers = [_cell(text) for talk in texts for text in talk[1::2]]
    choose = random.Random(2)
    with (
        (folder / "data_train.tsv").open("w", encoding="utf-8", newline="") as rows,
        (folder / "data_train_lookup.txt").open("w", encoding="utf-8", newline="") as keys,
    ):
        for key, talk in enumerate(talks):
            for context, response in _contexts(talk, texts[key]):
                words = "\t".join(map(_cell, context))
                rows.write(f"1\t{words}\t{_cell(response)}\n")
                rows.writelines(f"0\t{words}\t{wrong}\n" for wrong in choose.sample(answers, _NEGATIVES))
                keys.write(f"{key}\n" * (_NEGATIVES + 1))
    return (folder / "data_train.tsv").stat().st_size / 1e6


def _contexts(talk: dict[str, Any], texts: list[str]) -> Iterator[tuple[list[str], str]]:
    """Return each context with its right response, as the corpus's authors choose them."""
    users = [index for index, one in enumerate(talk["utterances"]) if one["actor_type"] == "user"]
    for index in users[1:]:
        if index + 1 < len(texts):
            yield texts[max(0, index + 1 - _WINDOW) : index + 1], texts[index + 1]


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if '"' in text else text


def in_memory(folder: Path, _: Path) -> float:
    """Let DuckDB read the lines of the TSV into a table of one text column in memory; gives its rows in thousands."""
    return _lines(":memory:", folder)


def in_file(folder: Path, place: Path) -> float:
    """Let DuckDB do the same into a file, compressed as ours is; gives the megabytes of the file."""
    target = place / "lines.duckdb"
    target.unlink(missing_ok=True)
    _lines(str(target), folder)
    return target.stat().st_size / 1e6


def _lines(target: str, folder: Path) -> float:
    import duckdb

    with duckdb.connect(target, config={"storage_compatibility_version": "v1.2.0"}) as con:
        con.execute("set preserve_insertion_order = false")
        con.execute("create table lines (line varchar using compression zstd)")
        con.execute(
            "insert into lines from read_csv(?, columns = {line: 'varchar'}, delim = '\x01', quote = '', escape = '', "
            "header = false, auto_detect = false, max_line_size = 10000000)",
            [str(folder / "data_train.tsv")],
        )
        return con.execute("select count(*) / 1000 from lines").fetchall()[0][0]  # type: ignore[no-any-return]


PEERS = {"in_memory": in_memory, "in_file": in_file}


def measure(kind: str, folder: Path, place: Path) -> dict[str, float]:
    """Run one kind in a process of its own: seconds (of the ingest, ``process``), peak megabytes, result."""
    if kind == "ingest":
        return ingest("mantis", folder, place / "talks.duckdb")
    command = [sys.executable, "-m", "benchmarks.mantis_ranking", "--run", kind, str(folder), str(place)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def run(kind: str, folder: Path, place: Path) -> None:
    """Be the process that is measured."""
    begun = time.perf_counter()
    result = PEERS[kind](folder, place)
    print(json.dumps({"seconds": time.perf_counter() - begun, "peak": peak(), "result": result}))


def compare(count: int, repeat: int, parent: Path | None) -> None:
    """Invent the files, and read them both ways in turn."""
    with tempfile.TemporaryDirectory(dir=parent) as name:
        place = Path(name)
        size = invent(place / "whole", count)
        half = invent(place / "half", count // 2)
        rounds = [{kind: measure(kind, place / "whole", place) for kind in ("ingest", *PEERS)} for _ in range(repeat)]
        small = measure("ingest", place / "half", place)
    middle = {
        kind: {name: statistics.median(one[kind][name] for one in rounds) for name in rounds[0][kind]}
        for kind in rounds[0]
    }
    print(json.dumps({"megabytes": size, **middle, "half": {"megabytes": half, **small}}, indent=2))
    for kind in ("in_memory", "in_file"):
        ratio = statistics.median(one[kind]["seconds"] / one["ingest"]["process"] for one in rounds)
        print(f"speed: {ratio:.2f} of DuckDB's own reading of the lines {kind} (median of {repeat}; 0.5 is wanted)")
    print(f"memory: {middle['ingest']['peak']:.0f} MB, of half the file {small['peak']:.0f} MB")
    print(f"warehouse: 1/{size / middle['ingest']['result']:.0f} of the TSV (at most 1/20 is wanted)")


def main() -> None:
    """Measure, or (``--run``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=int, default=5_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the files are made; the system's place for such by default")
    parser.add_argument("--run", nargs=3, metavar=("KIND", "FOLDER", "PLACE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        kind, folder, place = arguments.run
        run(kind, Path(folder), Path(place))
    else:
        compare(arguments.dialogues, arguments.repeat, arguments.folder)


if __name__ == "__main__":
    main()
