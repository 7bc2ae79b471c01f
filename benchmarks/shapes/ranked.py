"""Turns of about 12 invented words by Zipf's law, and words to rank them by: common ones, and rare ones."""

import json
from pathlib import Path

import numpy as np
import polars as pl

from talkhouse import migrations
from talkhouse.schema import warehouse

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


def invent(turns: int, folder: Path) -> None:
    """Write turns as a warehouse (w.duckdb) and Parquet, and the queries by name (queries.json)."""
    chance = np.random.default_rng(7)
    words = np.array([_word(number) for number in range(_WORDS)], dtype=object)
    shares = np.cumsum(1 / (np.arange(1, _WORDS + 1) + 2.7) ** 1.05)
    migrations.upgrade(folder / "w.duckdb")
    with warehouse.create(folder / "w.duckdb") as con:
        for first in range(0, turns, _BATCH):
            numbers = range(first, min(first + _BATCH, turns))
            lengths = np.clip(chance.lognormal(2.2, 0.8, len(numbers)).round(), 1, 300).astype(int)
            drawn = np.searchsorted(shares, chance.random(lengths.sum()) * shares[-1])
            ends = np.cumsum(lengths)
            texts = [" ".join(words[drawn[end - length : end]]) for end, length in zip(ends, lengths, strict=True)]
            place = pl.Series(numbers, dtype=pl.Int64)
            frame = pl.DataFrame({"text": texts}).with_columns(
                dialogue_id=pl.format("toys:{}", place // 10), turn_index=(place % 10).cast(pl.Int32)
            )
            con.register("batch", frame.to_arrow())
            con.execute("insert into main.turns by name select *, 'user' as role, 'message' as kind from batch")
        con.execute(
            "insert into main.dialogues by name select distinct dialogue_id, 'toys' as corpus_id from main.turns"
        )
        con.execute(f"copy (select text from main.turns) to '{folder / 'turns.parquet'}' (format parquet)")
    queries = {name: [str(words[rank]) for rank in ranks] for name, ranks in QUERIES.items()}
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")


def _word(number: int) -> str:
    """Return a word for each number, another for each: its digits, as letters."""
    return f"{number:x}".translate(str.maketrans("0123456789abcdef", "etaoinshrdlcumwf"))
