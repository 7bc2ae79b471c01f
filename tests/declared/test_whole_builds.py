"""Odd corpora of every format through a whole build: each file is restored equal, and each record is counted."""

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.archives import zipped
from tests.conftest import ONCE_BROKEN, invented_builds
from tests.declared.invented_corpora import (
    DOCUMENTS,
    FORMATS,
    HEAD,
    TURNS,
    Invented,
    corpus,
    laid_out,
    not_restored,
    problems_of,
)
from tests.declared.record_file_pieces import parquet

pytestmark = pytest.mark.slow


def invented(of: Callable[[str], st.SearchStrategy[Invented]]) -> dict[str, Invented]:
    """Invent some corpora of every format, to be built together."""
    corpora: dict[str, Invented] = {}
    for format_ in FORMATS:

        @invented_builds(3, ONCE_BROKEN)
        @given(of(format_), st.just(format_))
        def keep(example: Invented, name: str) -> None:
            corpora[f"any_{name}_{len(corpora)}"] = example

        keep()
    return corpora


@pytest.mark.long
def test_any_corpus_is_restored(tmp_path: Path) -> None:
    assert problems_of(invented(corpus), tmp_path) == []


@pytest.mark.long
def test_with_one_mutation_a_record_is_named_or_loads(tmp_path: Path) -> None:
    def spoilt(format_: str) -> st.SearchStrategy[Invented]:
        return st.builds(with_one_mutation, corpus(format_), st.randoms(use_true_random=False))

    assert problems_of(invented(spoilt), tmp_path) == []


def with_one_mutation(invented: Invented, random_: random.Random) -> Invented:
    name = random_.choice(sorted(invented.files))
    return replace(invented, files={**invented.files, name: mutated(invented.files[name], random_)})


def mutated(raw: bytes, random_: random.Random) -> bytes:
    """Change one byte, cut a line or the end, or put something else there."""
    place = random_.randrange(len(raw) + 1)
    lines = raw.splitlines(keepends=True)
    return random_.choice(
        [
            raw[:place] + bytes([random_.randrange(256)]) + raw[place + 1 :],
            raw[:place],
            b"".join(line for number, line in enumerate(lines) if number != len(lines) // 2),
            raw[:place] + random_.choice([b"null", b"[]", b'"', b"{}", b"1", b"\n", b","]) + raw[place:],
        ]
    )


def test_corpora_that_were_not_restored_once_are(tmp_path: Path) -> None:
    chat = f'{HEAD}format = "chat"\n[[files]]\npath = "**"\n'
    record = '{"id": "a", "messages": [], "lang": %s}'
    in_languages = "\n".join(record % lang for lang in ('""', "null", '"en"'))
    in_parts = b'{"id": "a", "messages": [{"role": "user", "content": [{"text": "Hi", "type": "text"}]}]}'
    header = "id,title,domain,lang,fold,u,text,role,who,time,to,kind,from,till,name"
    rows = f"{header}\na,,,,,1,x,user,ann,,,,,,Ann\na,,,,,2,x,user,ann,,,,,,\n"
    files = {
        "a_language_of_no_letters": {"a.jsonl": in_languages.encode(), "b.jsonl": (record % "null").encode()},
        "a_file_that_only_repeats_parts": {"a.jsonl": in_parts, "b.jsonl": in_parts},
        "a_name_that_is_left_out_later": {"a.csv": rows.encode()},
        "files_without_records": {"a.jsonl": b"", "b.json": b"[]", "c.jsonl": b"\n\n", "d.jsonl": b'{"messages": []}'},
    }
    pages = (DOCUMENTS["chat"][0], DOCUMENTS["chat"][0], TURNS.partition("[[annotations]]")[0], chat)
    corpora = {name: Invented(page, files[name], {}) for name, page in zip(files, pages, strict=True)}
    assert problems_of(corpora, tmp_path) == []


# One corpus in several forms gives the same rows but for paths.

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
