# /// script
# requires-python = ">=3.11"
# dependencies = ["polars==2.1.0", "tantivy==0.27.0"]
# ///
"""Ranks texts by queries with Tantivy, which counts all that have a word, and prints what each took when it is warm.

tantivy_search.py TURNS.parquet QUERIES.json FOLDER
"""

import json
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import tantivy

turns, queries, folder = map(Path, sys.argv[1:])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir()


def timed(action: Callable[[], object]) -> dict[str, float]:
    """Do something, and return its seconds and processor seconds."""
    cpu, begun = time.process_time(), time.perf_counter()
    action()
    return {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}


schema = tantivy.SchemaBuilder()
schema.add_text_field("text", stored=False, tokenizer_name="default", index_option="freq")
schema.add_unsigned_field("number", stored=True, fast=True)
index = tantivy.Index(schema.build(), path=str(folder))


def make() -> None:
    """Index the texts."""
    writer = index.writer(heap_size=500_000_000, num_threads=2)
    for number, text in enumerate(pl.read_parquet(turns)["text"]):
        document = tantivy.Document(text=text)
        document.add_unsigned("number", number)  # by its constructor it would be a signed one, which no index takes
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()


def search(words: list[str]) -> list[int]:
    """Return the numbers of the best texts."""
    found = searcher.search(index.parse_query(" ".join(words), ["text"]), 50, count=True)
    return [searcher.doc(place)["number"] for _, place in found.hits]


took = {"the index": timed(make)}
searcher = index.searcher()
for name, words in json.loads(queries.read_text(encoding="utf-8")).items():
    search(words)
    took[name] = timed(partial(search, words))
print(json.dumps(took))
