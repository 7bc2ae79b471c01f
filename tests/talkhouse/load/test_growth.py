"""Work that grows with the square of the files is found by counting: no clock says it as surely."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import duckdb
import pytest

from benchmarks.scenarios.mantis import write_file
from benchmarks.scenarios.mpchat import PERSONA_SPEAKERS, Inventor
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.loading.load_corpus import load_corpus
from talkhouse.ingest.registry import corpora
from talkhouse.load.base_copy import open_template
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.checks import checks, run
from talkhouse.queries.views import fill_examples
from tests.samples import PICTURES, POSTS

DECODERS = {"Decoder.decode", "json_decode"}
"""The functions of msgspec that turn bytes into values."""

_STATEMENTS = """
select count(*) from duckdb_logs
where type = 'QueryLog' and message not in ('begin', 'commit') and message not like '%select * from stream'
"""


def conversations(folder: Path, size: int) -> None:
    write_file(folder / "merged_train.json", 500 * size or 10)


def pictures(folder: Path, size: int) -> None:
    # From 150 persona speakers on they are as many as the size says.
    Inventor(size * 150 / PERSONA_SPEAKERS).file(folder / "mpchat_si.json")


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the calls of functions, in Python and in C, of all threads that begin meanwhile."""
    calls: Counter[str] = Counter()

    def note(_: FrameType, event: str, function: object) -> None:
        if event in ("call", "c_call"):
            calls["calls"] += 1
            calls["decoded"] += event == "c_call" and getattr(function, "__qualname__", "") in DECODERS

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def loaded(corpus_id: str, invent: Callable[[Path, int], None], folder: Path, size: int) -> dict[str, int]:
    """Load a file of a size with its examples and checks; returns what was done."""
    source = folder / str(size) / corpus_id
    source.mkdir(parents=True)
    invent(source, size)
    splits = {name: corpus.splits for name, corpus in corpora().items()}
    open_template(folder / f"{size}.duckdb", catalogue(), splits).close()
    with duckdb.connect(folder / f"{size}.duckdb") as con:
        con.execute("call enable_logging('QueryLog')")
        with counted() as calls:
            files = disk_files(source, corpus_id)
            load_corpus(con.cursor, corpora()[corpus_id], files, lambda *_: None, is_sample=False)
            fill_examples(con, catalogue(), [corpus_id])
            list(run(con, checks(catalogue(), [corpus_id])))
        ((rows,),) = con.execute("select count(*) from main.records").fetchall()
        return {"rows": rows, "statements": statements(con), **calls}


def statements(con: duckdb.DuckDBPyConnection) -> int:
    """Return the number of statements run over all connections of the database, batches of rows not counted."""
    ((count,),) = con.execute(_STATEMENTS).fetchall()
    return int(count)


@pytest.mark.parametrize(
    ("corpus_id", "invent"),
    [
        pytest.param(POSTS, conversations, marks=pytest.mark.slow),
        pytest.param(PICTURES, pictures, marks=pytest.mark.long),
    ],
)
def test_a_load_of_four_times_the_size_runs_as_many_statements_and_does_four_times_the_work(
    corpus_id: str, invent: Callable[[Path, int], None], tmp_path: Path
) -> None:
    loaded(corpus_id, invent, tmp_path / "first", 0)  # imports what is imported once
    once, twice, four_times = (loaded(corpus_id, invent, tmp_path, size) for size in (1, 2, 4))
    assert once["statements"] == twice["statements"] == four_times["statements"]
    # What a load costs whatever its rows are is in all of them; each row more costs what the rows before did.
    for work in ("decoded", "calls"):
        for_each = (twice[work] - once[work]) / (twice["rows"] - once["rows"])
        assert four_times[work] - twice[work] <= 1.25 * for_each * (four_times["rows"] - twice["rows"])
