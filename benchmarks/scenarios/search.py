"""Searches of invented turns: for a text, compared with Polars and grep, and ranked by words, compared with Tantivy.

    python -m benchmarks.scenarios.search WAREHOUSE QUERIES.json

ranks the texts of a warehouse by queries, and prints what each took with the index open and warm.
"""

import json
import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import talkhouse
from benchmarks.clock import timed
from benchmarks.scenario import Case, Scenario, Side, command, module, peer
from benchmarks.words import vocabulary
from talkhouse.search.ranked import rank
from talkhouse.search.search_index import INDEX, make_index
from talkhouse.search.text_groups import TextSearch

if TYPE_CHECKING:
    import polars as pl

_TURNS = {"20,000 turns": 20_000, "440,160 turns": 440_160}
_RANKED_TURNS = {"100,000 turns": 100_000, "1 million turns": 1_000_000, "10 million turns": 10_000_000}
_NAMES = (
    "rare text",
    "frequent text",
    "frequent text, 1,000 given",
    "absent text",
    "rare text, any case",
    "rare expression",
    "frequent expression",
)


def _find(turns: int, name: str, folder: Path) -> Case:
    sought = _invent_long_turns(turns, folder)[name]
    options = ["-c", "-E" if sought.is_regex else "-F", *(["-i"] if "-i" in sought.options else [])]
    # It ends with 1 where it finds nothing.
    grep = ("sh", "-c", 'grep "$@" || test $? -eq 1', "grep", *options)
    how = "regex" if sought.is_regex else "literal"
    return Case(
        (
            command("search", sought.text, *sought.options, "--db", folder / "w.duckdb", name="talkhouse search"),
            peer("Polars", "polars_search", folder / "turns.parquet", sought.pattern, how),
            Side("grep", (*grep, "-e", sought.text, str(folder / "turns.txt"))),
        ),
        turns,
    )


def _rank(turns: int, folder: Path) -> Case:
    _invent_short_turns(turns, folder)
    queries = folder / "queries.json"
    own = module("Talkhouse", __name__, folder / "w.duckdb", queries)
    tantivy = peer("Tantivy", "tantivy_search", folder / "turns.parquet", queries, folder / "tantivy", is_part=True)
    return Case((own, tantivy), turns)


SEARCH = Scenario(
    name="search",
    title="Search the turns",
    cases={f"{name}, {turns}": partial(_find, number, name) for turns, number in _TURNS.items() for name in _NAMES},
    quick=("rare text, 20,000 turns", "frequent expression, 20,000 turns"),
    notes=(
        "Whole processes; all count every hit. Talkhouse also gives the first 50, or 1,000, in order and with their "
        "neighbours; Polars the first in order, grep none. Turns have 90 words.",
    ),
)

RANKED = Scenario(
    name="ranked",
    title="Rank texts by their words",
    cases={name: partial(_rank, turns) for name, turns in _RANKED_TURNS.items()},
    quick=("100,000 turns",),
    measure="cpu",
    notes=(
        "Each part warm, in one process. Talkhouse gives the texts with their marks, and counts by corpus, split, role "
        "and kind; Tantivy the numbers of the first 50 and how many there are.",
        "Tantivy keeps the length of a text in one byte, so that its scores are not those of the formula, and finds "
        "all texts that have any word; we leave out those that have only words of more than a tenth of all texts.",
    ),
)


@dataclass(frozen=True)
class Sought:
    """Something to look for, and how."""

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


def _invent_long_turns(turns: int, folder: Path) -> dict[str, Sought]:
    """Write turns of 90 words, five or six to a dialogue, as a warehouse (w.duckdb), Parquet and lines of text.

    Returns by name what can be looked for.
    """
    import polars as pl

    chance = random.Random(23)
    words = vocabulary(chance)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    texts = [" ".join(chance.choices(words, cum_weights=weights, k=90)) for _ in range(turns)]
    places = [(f"toys:train:{number}", index) for number in range(turns // 5 + 1) for index in range(5 + number % 2)]
    names, indexes = zip(*places[:turns], strict=True)
    role = pl.when(pl.col("turn_index") % 2 == 0).then(pl.lit("user")).otherwise(pl.lit("agent"))
    frame = pl.DataFrame({"dialogue_id": names, "turn_index": indexes, "text": texts}).with_columns(role=role)
    _store([frame], folder)
    frame.write_parquet(folder / "turns.parquet")
    (folder / "turns.txt").write_text("\n".join(frame["text"]), encoding="utf-8")
    often, rare = words[0], f"{words[4000]} {words[7]}"
    return {
        "rare text": Sought(rare),
        "frequent text": Sought(often),
        "frequent text, 1,000 given": Sought(often, ("--limit", "1000")),
        "absent text": Sought("zebra kayak"),
        "rare text, any case": Sought(rare.upper(), ("-i",)),
        "rare expression": Sought(rf"\b{words[4000][:3]}\w*{words[4000][-2:]} {words[7]}\b", ("--regex",)),
        "frequent expression": Sought(rf"\b{often} \w+ing?\b|{words[1]} {often}", ("--regex",)),
    }


_WORDS = 400_000
_BATCH = 500_000

QUERIES = {
    "the commonest word": (0,),
    "two common words": (1, 5),
    "a common and a rare word": (0, 20_000),
    "four common words": (0, 1, 2, 3),
    "four words in up to a tenth": (8, 9, 10, 11),
    "four words, common to rare": (2, 30, 500, 9_000),
    "three rare words": (10_000, 20_000, 40_000),
}
"""By name, how many words come before each word in the order of frequency."""


def _invent_short_turns(turns: int, folder: Path) -> None:
    """Write turns of about 12 words by Zipf's law as a warehouse (w.duckdb) and Parquet; and queries by name, as JSON.

    Queries are of common words and of rare ones.
    """
    import numpy as np
    import polars as pl

    chance = np.random.default_rng(7)
    words = np.array([_word(number) for number in range(_WORDS)], dtype=object)
    shares = np.cumsum(1 / (np.arange(1, _WORDS + 1) + 2.7) ** 1.05)

    def batches() -> "Iterator[pl.DataFrame]":
        for first in range(0, turns, _BATCH):
            numbers = range(first, min(first + _BATCH, turns))
            lengths = np.clip(chance.lognormal(2.2, 0.8, len(numbers)).round(), 1, 300).astype(int)
            drawn = np.searchsorted(shares, chance.random(lengths.sum()) * shares[-1])
            ends = np.cumsum(lengths)
            texts = [" ".join(words[drawn[end - length : end]]) for end, length in zip(ends, lengths, strict=True)]
            place = pl.Series(numbers, dtype=pl.Int64)
            yield pl.DataFrame({"text": texts}).with_columns(
                dialogue_id=pl.format("toys:{}", place // 10),
                turn_index=(place % 10).cast(pl.Int32),
                role=pl.lit("user"),
            )

    _store(batches(), folder)
    with talkhouse.open(folder / "w.duckdb", unsafe=True) as con:
        con.execute(f"copy (select text from main.turns) to '{folder / 'turns.parquet'}' (format parquet)")
    queries = {name: [str(words[rank]) for rank in ranks] for name, ranks in QUERIES.items()}
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")


def _word(number: int) -> str:
    """Return a word for each number, another for each: its digits, as letters."""
    return f"{number:x}".translate(str.maketrans("0123456789abcdef", "etaoinshrdlcumwf"))


def _store(frames: "Iterable[pl.DataFrame]", folder: Path) -> None:
    """Write turns as a warehouse."""
    from talkhouse import migrations
    from talkhouse.schema import warehouse

    migrations.upgrade(folder / "w.duckdb")
    with warehouse.create(folder / "w.duckdb") as con:
        for frame in frames:
            con.register("batch", frame.to_arrow())
            con.execute("insert into main.turns by name select *, 'message' as kind from batch")
        con.execute(
            "insert into main.dialogues by name select distinct dialogue_id, 'toys' as corpus_id from main.turns"
        )


def main() -> None:
    """Rank what the arguments say."""
    path = Path(sys.argv[1])
    queries: dict[str, list[str]] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    INDEX.path(path).unlink(missing_ok=True)
    took = {"the index": timed(make_index, path, lambda _: None)}
    with talkhouse.open(path) as con, INDEX.open(INDEX.path(path)) as index:
        search = TextSearch(con, index, {})
        for name, words in queries.items():
            rank(search, " ".join(words))
            took[name] = timed(rank, search, " ".join(words))
    print(json.dumps(took))


if __name__ == "__main__":
    main()
