"""Time of ``talkhouse search`` on invented turns, beside Polars, grep and a plain loop over the same texts.

    uv run python -m benchmarks.search_time --turns 440160 --rounds 5

Every time but the loop's is of a whole process, start included; the loop is over a list that is in memory already.
All of them count all hits, and must come to the same number. Talkhouse also gives the first 50, or --limit, with their
neighbours, in order; Polars the first 50 in order, without neighbours; grep and the loop nothing.
"""

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import polars as pl

from talkhouse import migrations
from talkhouse.schema import warehouse

_LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
_SHARES = (12.7, 9.1, 8.2, 7.5, 7, 6.7, 6.3, 6.1, 6, 4.3, 4, 2.8, 2.8, 2.4, 2.4, 2.2, 2, 2, 1.9, 1.5, 1, 0.8, 0.15)
"""How often English has its letters, per cent; the last three are as rare as the one before."""

_WORDS_A_TURN = 90
_SEARCH = [sys.executable, "-c", "from talkhouse.cli import main; main()", "search"]
_POLARS = """
import sys, polars as pl
path, text, literal = sys.argv[1], sys.argv[2], sys.argv[3] == "literal"
found = pl.scan_parquet(path).filter(pl.col("text").str.contains(text, literal=literal)).collect()
print(found.height, found.sort("dialogue_id", "turn_index").head(50).rows()[:1])
"""


@dataclass(frozen=True)
class Case:
    """Something to look for, and how."""

    name: str
    text: str
    options: tuple[str, ...] = ()

    @property
    def is_regex(self) -> bool:
        """Whether the peers need a regular expression: for one, and for letters of either case."""
        return "--regex" in self.options or "-i" in self.options

    @property
    def pattern(self) -> str:
        """The text as the peers take it."""
        return ("(?i)" if "-i" in self.options else "") + self.text


def vocabulary(chance: random.Random) -> list[str]:
    """Invent words of English letters, the most frequent first."""
    shares = (*_SHARES, *[_SHARES[-1]] * (len(_LETTERS) - len(_SHARES)))
    lengths = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
    return ["".join(chance.choices(_LETTERS, shares, k=chance.choice(lengths))) for _ in range(20_000)]


def invent(turns: int) -> tuple[pl.DataFrame, list[str]]:
    """Make turns of about 90 words, five or six to a dialogue, and give them with the vocabulary."""
    chance = random.Random(23)
    words = vocabulary(chance)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    texts = [" ".join(chance.choices(words, cum_weights=weights, k=_WORDS_A_TURN)) for _ in range(turns)]
    places = [(f"toys:train:{number}", index) for number in range(turns // 5 + 1) for index in range(5 + number % 2)]
    names, indexes = zip(*places[:turns], strict=True)
    frame = pl.DataFrame({"dialogue_id": names, "turn_index": indexes, "text": texts})
    return frame.with_columns(
        role=pl.when(pl.col("turn_index") % 2 == 0).then(pl.lit("user")).otherwise(pl.lit("agent"))
    ), words


def store(frame: pl.DataFrame, folder: Path) -> None:
    """Write the turns as a warehouse, as Parquet and as lines of text."""
    migrations.upgrade(folder / "empty.duckdb")
    migrations.upgrade(folder / "w.duckdb")
    with warehouse.create(folder / "w.duckdb") as con:
        con.register("batch", frame.to_arrow())
        con.execute("insert into main.turns by name select *, 'message' as kind from batch")
        con.execute("insert into main.dialogues by name select distinct dialogue_id, 'toys' as corpus_id from batch")
    frame.write_parquet(folder / "turns.parquet")
    (folder / "turns.txt").write_text("\n".join(frame["text"]), encoding="utf-8")


def cases(words: list[str]) -> Iterator[Case]:
    """Choose texts of which there are few, many and none."""
    often, rare = words[0], f"{words[4000]} {words[7]}"
    yield Case("rare text", rare)
    yield Case("frequent text", often)
    yield Case("frequent text, 1,000 given", often, ("--limit", "1000"))
    yield Case("absent text", "zebra kayak")
    yield Case("rare text, any case", rare.upper(), ("-i",))
    yield Case("rare expression", rf"\b{words[4000][:3]}\w*{words[4000][-2:]} {words[7]}\b", ("--regex",))
    yield Case("frequent expression", rf"\b{often} \w+ing?\b|{words[1]} {often}", ("--regex",))


def _process(command: list[str]) -> Callable[[], int]:
    """Return what runs a command and reads the number of hits, the first number that it prints."""

    def run() -> int:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        number = re.search(r"^(?:found in )?([\d,]+)|^no turn", done.stderr or done.stdout)
        if number is None:
            raise RuntimeError(f"{command}: {done.stderr or done.stdout}")
        return int((number[1] or "0").replace(",", ""))

    return run


def contenders(case: Case, folder: Path, texts: list[str]) -> dict[str, Callable[[], int]]:
    """Return the ways of looking, each as something to call that gives the number of hits."""
    search = [*_SEARCH, case.text, *case.options, "--db", str(folder / "w.duckdb")]
    how = "regex" if case.is_regex else "literal"
    grep = ["grep", "-c", "-E" if case.is_regex else "-F", *(["-i"] if "-i" in case.options else []), "-e", case.text]
    match = re.compile(case.pattern).search
    return {
        "talkhouse": _process(search),
        "polars": _process([sys.executable, "-c", _POLARS, str(folder / "turns.parquet"), case.pattern, how]),
        "grep": _process([*grep, str(folder / "turns.txt")]),
        "loop": lambda: sum((match(text) is not None) if case.is_regex else (case.text in text) for text in texts),
    }


def measure(ways: dict[str, Callable[[], int]], rounds: int) -> tuple[int, dict[str, float]]:
    """Time every way in turn, so that what else the machine does hits all; gives the hits and median seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    hits: dict[str, int] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            begun = time.perf_counter()
            hits[name] = way()
            seconds[name].append(time.perf_counter() - begun)
    if len(set(hits.values())) != 1:
        raise RuntimeError(f"they disagree: {hits}")
    return next(iter(hits.values())), {name: statistics.median(some) for name, some in seconds.items()}


def main() -> None:
    """Invent the turns, look for each text in every way, and print the times and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=440_160)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    frame, words = invent(arguments.turns)
    texts = frame["text"].to_list()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store(frame, folder)
        size = (folder / "turns.txt").stat().st_size / 1e6
        print(f"{arguments.turns:,} turns, {size:,.0f} MB of text, {arguments.rounds} rounds, median seconds")
        _, start = measure(
            {"status": _process([*_SEARCH, "a", "--db", str(folder / "empty.duckdb")])}, arguments.rounds
        )
        print(f"of which start, and a search of nothing: {start['status']:.2f}")
        print(f"{'':28} {'hits':>8} {'talkhouse':>10} {'polars':>14} {'grep':>14} {'loop':>14}")
        for case in cases(words):
            hits, found = measure(contenders(case, folder, texts), arguments.rounds)
            ours = found.pop("talkhouse")
            peers = "".join(f"{seconds:8.2f} {seconds / ours:4.1f} x" for seconds in found.values())
            print(f"{case.name:28} {hits:8,} {ours:10.2f} {peers}", flush=True)


if __name__ == "__main__":
    main()
