"""From a turn, a label or a candidate to its file: ``bi.provenance`` leads to where it is."""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import corpora, sample_of

EVERY_CORPUS = pytest.mark.parametrize("corpus", corpora().values(), ids=lambda corpus: corpus.id)

SOURCE = "provenance.source_file_id, provenance.sha256, provenance.source_pointer"
TURNS = f"select dialogue_id, turn_index, text, {SOURCE} from main.turns inner join bi.provenance using (dialogue_id)"
LABELS = (
    f"select coalesce(label, value::varchar), {SOURCE} from main.annotations inner join bi.provenance using (record_id)"
)
TEXTS = f"""
    select texts.text, {SOURCE}
    from main.candidates
    inner join bi.provenance using (record_id)
    inner join main.texts using (text_id)
"""
PERSONAS = f"""
    select personas.text, {SOURCE}
    from main.candidates
    inner join bi.provenance using (record_id)
    inner join main.personas using (persona_id)
"""


def at(value: Any, pointer: str) -> Any:
    """Follow a JSON pointer (RFC 6901)."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def texts(value: Any) -> Iterator[str]:
    """Yield every text of a JSON value: names, strings, and other scalars as JSON writes them."""
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from texts(inner)
        case list():
            for inner in value:
                yield from texts(inner)
        case str():
            yield value
        case _:
            yield json.dumps(value)


class Files:
    """The files of a corpus's sample, and what is at a location in them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def says(self, file_id: str, sha256: str, pointer: str, value: str) -> bool:
        """Whether the place says it: a JSON file in so many words, another with its quotes doubled or in letters."""
        path = sample_of(self._corpus) / Path(file_id).relative_to(self._corpus.id)
        raw = read(path)
        assert hashlib.sha256(raw).hexdigest() == sha256
        if file_id.endswith(".json"):
            return value in texts_at(path, pointer)
        whole = raw.decode()
        written = (value, value.replace("'", "''"), value.replace('"', '""'))
        return any(text in whole for text in written) or all(f'"{letter}"' in whole for letter in value)


@cache
def read(path: Path) -> bytes:
    return path.read_bytes()


@cache
def parsed(path: Path) -> Any:
    return json.loads(read(path))


@cache
def texts_at(path: Path, pointer: str) -> set[str]:
    return set(texts(at(parsed(path), pointer)))


@EVERY_CORPUS
def test_a_turn_is_where_a_join_by_dialogue_leads(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    """One of the dialogue's records at least says it; others may only be about it."""
    files, found = Files(corpus), {}
    for *turn, text, file_id, sha256, pointer in con.execute(f"{TURNS} where corpus_id = ?", [corpus.id]).fetchall():
        found[tuple(turn)] = found.get(tuple(turn)) or files.says(file_id, sha256, pointer, text)
    assert found
    assert all(found.values())


@EVERY_CORPUS
@pytest.mark.parametrize("query", [LABELS, TEXTS, PERSONAS], ids=["label", "text", "persona"])
def test_what_hangs_on_a_record_is_where_a_join_by_record_leads(
    corpus: Corpus, query: str, con: duckdb.DuckDBPyConnection
) -> None:
    files = Files(corpus)
    found = con.execute(f"{query} where provenance.corpus_id = ?", [corpus.id]).fetchall()
    assert [location for value, *location in found if value is not None and not files.says(*location, value)] == []
    assert found or query != LABELS


def test_every_record_has_its_file(con: duckdb.DuckDBPyConnection) -> None:
    counts = "select (select count(*) from main.records), count(*), count(sha256) from bi.provenance"
    ((records, rows, hashes),) = con.execute(counts).fetchall()
    assert records == rows == hashes
