# /// script
# requires-python = ">=3.11"
# dependencies = ["polars==2.1.0"]
# ///
"""Counts the turns that have a text, and prints the first of them in order.

polars_search.py TURNS.parquet TEXT {literal,regex}
"""

import sys

import polars as pl

path, text, how = sys.argv[1:]
found = pl.scan_parquet(path).filter(pl.col("text").str.contains(text, literal=how == "literal")).collect()
print(found.height, found.sort("dialogue_id", "turn_index").head(50).rows()[:1])
