"""The package of ``--for convokit``: a corpus from the tables, a part of it at a time."""

import json
from collections.abc import Iterable
from collections.abc import Mapping as Json
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.packages.content import Package
from talkhouse.packages.convokit.ascii_json import Lines, Mapping
from talkhouse.packages.convokit.conversations import Conversations
from talkhouse.packages.convokit.labels import Labels, Level
from talkhouse.packages.convokit.members import index
from talkhouse.packages.convokit.missing import MissingSpeakers
from talkhouse.packages.convokit.overall import overall
from talkhouse.packages.convokit.plan import CorpusPackage, plan
from talkhouse.packages.convokit.speakers import MEMBERS, Speakers
from talkhouse.packages.convokit.utterances import Utterances
from talkhouse.packages.layout import Layout, described_file
from talkhouse.query.row_stream import OnRows

_FILES = ("utterances.jsonl", "speakers.json", "conversations.json", "corpus.json", "index.json")


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, CorpusPackage)  # noqa: S101 - it is what ``plan`` returns
    tables, con = package.tables, package.warehouse.con
    missing, labels = MissingSpeakers(tables), Labels(tables)
    utterances, conversations = Utterances(tables, missing, labels), Conversations(tables, labels)
    speakers = Speakers(tables, missing)
    written = {
        "utterances": _write_lines(
            con, folder / "utterances.jsonl", (utterances.query(part) for part in tables.parts), on_rows
        ),
        "speakers": _write_mapping(con, folder / "speakers.json", [speakers.query()]),
        "conversations": _write_mapping(
            con, folder / "conversations.json", (conversations.query(part) for part in tables.parts)
        ),
    }
    labelled = tables.count("annotations", f"not ({Level.NONE})")
    corpus = overall(package, {**written, "labels": labelled}, speakers.silent())
    _write_json(folder / "corpus.json", corpus)
    types = {
        "utterances-index": index(utterances.members),
        "speakers-index": index(MEMBERS),
        "conversations-index": index(conversations.members),
        "overall-index": {name: [str(type(value))] for name, value in corpus.items()},
        "version": 1,
        "vectors": [],
    }
    _write_json(folder / "index.json", types)
    return [described_file(folder / name, written.get(Path(name).stem)) for name in _FILES]


def _write_lines(con: duckdb.DuckDBPyConnection, path: Path, queries: Iterable[str], on_rows: OnRows) -> int:
    with path.open("wb") as stream:
        lines = Lines(con, stream)
        for query in queries:
            lines.write(query, on_rows)
    return lines.rows


def _write_mapping(con: duckdb.DuckDBPyConnection, path: Path, queries: Iterable[str]) -> int:
    with path.open("wb") as stream:
        mapping = Mapping(con, stream)
        for query in queries:
            mapping.write(query)
        mapping.end()
    return mapping.rows


def _write_json(path: Path, content: Json[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="ascii")


LAYOUT = Layout(plan, _write)
