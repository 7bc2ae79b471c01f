"""Warehouses beside the raw files that they were built from: the samples, and the publishers' where they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.registry import corpora, sample_of


class Published(NamedTuple):
    """The raw files of one corpus, and a warehouse that has them."""

    folder: Path
    con: duckdb.DuckDBPyConnection


@pytest.fixture(params=["samples", pytest.param("real files", marks=pytest.mark.slow)])
def published(request: pytest.FixtureRequest) -> Iterator[Published]:
    """The files of the corpus whose folder the test is in."""
    corpus_id = request.module.__name__.split(".")[-2]
    if request.param == "samples":
        yield Published(sample_of(corpora()[corpus_id]), request.getfixturevalue("con"))
        return
    folder = request.getfixturevalue("real_data") / corpus_id
    if not folder.is_dir():
        pytest.skip(f"no files of {corpus_id}")
    with talkhouse.open(request.getfixturevalue("real_warehouse")) as con:
        yield Published(folder, con)
