"""Turns of invented words, and texts to look for in them of which there are few, many and none."""

import random
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import polars as pl

from benchmarks.shapes.words import vocabulary
from talkhouse import migrations
from talkhouse.schema import warehouse

_WORDS_A_TURN = 90


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


def invent(turns: int, folder: Path) -> dict[str, Sought]:
    """Write turns of about 90 words, five or six to a dialogue, as a warehouse (w.duckdb), Parquet and lines of text.

    Returns by name what can be looked for.
    """
    chance = random.Random(23)
    words = vocabulary(chance)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    texts = [" ".join(chance.choices(words, cum_weights=weights, k=_WORDS_A_TURN)) for _ in range(turns)]
    places = [(f"toys:train:{number}", index) for number in range(turns // 5 + 1) for index in range(5 + number % 2)]
    names, indexes = zip(*places[:turns], strict=True)
    frame = pl.DataFrame({"dialogue_id": names, "turn_index": indexes, "text": texts})
    role = pl.when(pl.col("turn_index") % 2 == 0).then(pl.lit("user")).otherwise(pl.lit("agent"))
    _store(frame.with_columns(role=role), folder)
    return _sought(words)


def _store(frame: pl.DataFrame, folder: Path) -> None:
    migrations.upgrade(folder / "w.duckdb")
    with warehouse.create(folder / "w.duckdb") as con:
        con.register("batch", frame.to_arrow())
        con.execute("insert into main.turns by name select *, 'message' as kind from batch")
        con.execute("insert into main.dialogues by name select distinct dialogue_id, 'toys' as corpus_id from batch")
    frame.write_parquet(folder / "turns.parquet")
    (folder / "turns.txt").write_text("\n".join(frame["text"]), encoding="utf-8")


def _sought(words: list[str]) -> dict[str, Sought]:
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
