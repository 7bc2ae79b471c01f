"""Warehouses and the raw files that they were built from: the samples, and the publishers' files if present."""

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


def corpus_of(request: pytest.FixtureRequest) -> str:
    return str(request.module.__name__.split(".")[-2])


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, real_data: Path) -> Path:
    """The publisher's files of the corpus whose folder the test is in."""
    path = real_data / corpus_of(request)
    if not path.is_dir():
        pytest.skip(f"TALKHOUSE_DATA has no folder {path.name}")
    return path


@pytest.fixture(scope="module")
def real(folder: Path, real_warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:  # noqa: ARG001
    with talkhouse.open(real_warehouse) as con:
        yield con


@pytest.fixture(params=["samples", pytest.param("real files", marks=pytest.mark.slow)])
def published(request: pytest.FixtureRequest) -> Iterator[Published]:
    """The files of the corpus whose folder the test is in."""
    corpus_id = corpus_of(request)
    if request.param == "samples":
        yield Published(sample_of(corpora()[corpus_id]), request.getfixturevalue("con"))
    else:
        yield Published(request.getfixturevalue("folder"), request.getfixturevalue("real"))
