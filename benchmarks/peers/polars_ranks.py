# /// script
# requires-python = ">=3.11"
# dependencies = ["polars==2.1.0"]
# ///
"""Ranks the first candidate of each list by its score; knows nothing of keys, splits or ties.

polars_ranks.py SCORES.parquet SIZE
"""

import sys

import polars as pl

path, size = sys.argv[1], int(sys.argv[2])
scores = pl.read_parquet(path).with_columns(block=pl.col("example_index") // size)
gold = scores.filter(pl.col("example_index") % size == 0).select("block", gold="score")
ranks = scores.join(gold, on="block").group_by("block").agg(rank=(pl.col("score") >= pl.col("gold")).sum())
print((1 / ranks["rank"]).mean())
