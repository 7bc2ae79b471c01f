"""One corpus in several forms gives the same rows but for paths."""

import gzip
import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.archives import zipped
from tests.declared.invented_corpora import HEAD, Invented, laid_out, not_restored, problems_of
from tests.declared.record_file_pieces import parquet

pytestmark = pytest.mark.slow

CHAT = f"""{HEAD}format = "chat"
[[files]]
path = "**"
[dialogue]
id = "id"
title = "topic"
[[annotations]]
scheme = "mood"
on = "turn"
label = "mood"
"""
TALKS = [
    {
        "id": f"talk {number}",
        "topic": "é 😀",
        "messages": [
            {"role": "user", "content": "Is it\u2028far?", "mood": None},
            {"role": "assistant", "content": f"{number} km", "mood": "calm"},
        ],
        "weight": number / 4,
    }
    for number in range(5)
]
Rows = dict[str, list[tuple[object, ...]]]


def rows_of(corpora: dict[str, Invented], folder: Path) -> dict[str, Rows]:
    """Build corpora together; return the rows of each without its name, places, shapes and layouts."""
    assert problems_of(corpora, folder) == []
    queries = {
        "dialogues": "select dialogue_id, native_id, title from main.dialogues",
        "turns": "select dialogue_id, turn_index, role, text, native_id, speaker_id from main.turns",
        "annotations": "select dialogue_id, turn_index, scheme, label, value from main.annotations",
    }
    with talkhouse.open(folder / "w.duckdb") as con:
        return {name: {table: _own(con, name, query) for table, query in queries.items()} for name in corpora}


def _own(con: duckdb.DuckDBPyConnection, name: str, query: str) -> list[tuple[object, ...]]:
    rows = con.execute(f"{query} where starts_with(dialogue_id, ?) order by all", [f"{name}:"]).fetchall()
    return [tuple(cell.removeprefix(name) if isinstance(cell, str) else cell for cell in row) for row in rows]


def test_lines_lists_packed_files_archives_and_parquet_give_the_same(tmp_path: Path) -> None:
    lines = "\n".join(map(json.dumps, TALKS)).encode()
    forms = {
        "a_jsonl": {"a.jsonl": lines},
        "a_json": {"a.json": json.dumps(TALKS).encode()},
        "a_gz": {"a.jsonl.gz": gzip.compress(lines)},
        "a_zip": {"a.zip": zipped({"in/a.jsonl": lines})},
        "a_parquet": {"a.parquet": parquet(pa.Table.from_pylist(TALKS))},
    }
    result = rows_of({name: Invented(CHAT, files, {}) for name, files in forms.items()}, tmp_path)
    assert [len(rows) for rows in result["a_jsonl"].values()] == [5, 10, 5]
    assert all(rows == result["a_jsonl"] for rows in result.values())


def test_a_changed_declaration_loads_again_and_one_that_is_gone_is_not_needed(tmp_path: Path) -> None:
    invented = Invented(CHAT, {"a.json": json.dumps(TALKS).encode()}, {})
    before = rows_of({"a_corpus": invented}, tmp_path)["a_corpus"]
    path, data = tmp_path / "w.duckdb", tmp_path / "data"
    assert build(path, Silent(), data=data).unchanged_since is not None
    laid_out({"a_corpus": Invented(CHAT.replace('title = "topic"\n', ""), invented.files, {})}, data)
    assert build(path, Silent(), data=data).unchanged_since is None
    with talkhouse.open(path) as con:
        titles = con.execute("select distinct title from main.dialogues").fetchall()
    assert (titles, {row[2] for row in before["dialogues"]}) == ([(None,)], {"é 😀"})
    (data / "a_corpus" / "corpus.toml").unlink()
    with talkhouse.open(path) as con:
        assert list(not_restored(con, ["a_corpus"])) == []
