"""The package of ``--for convokit``: a corpus from the tables, a part of it at a time."""

import hashlib
import json
from collections.abc import Mapping as Json
from pathlib import Path
from typing import Any

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
from talkhouse.packages.layout import Layout
from talkhouse.query.row_stream import OnRows


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, CorpusPackage)  # noqa: S101 - it is what ``plan`` returns
    tables = package.tables
    con, missing, labels = tables.warehouse.con, MissingSpeakers(tables), Labels(tables)
    utterances, conversations = Utterances(tables, missing, labels), Conversations(tables, labels)
    speakers = Speakers(tables, missing)
    with (folder / "utterances.jsonl").open("wb") as stream:
        lines = Lines(stream)
        for part in tables.parts:
            lines.write(con.sql(utterances.query(part)), on_rows)
    with (folder / "speakers.json").open("wb") as stream:
        people = Mapping(stream)
        people.write(con.sql(speakers.query()))
        people.end()
    with (folder / "conversations.json").open("wb") as stream:
        dialogues = Mapping(stream)
        for part in tables.parts:
            dialogues.write(con.sql(conversations.query(part)))
        dialogues.end()
    counts = {
        "utterances": lines.rows,
        "speakers": people.rows,
        "conversations": dialogues.rows,
        "labels": tables.count("annotations", f"not ({Level.NONE})"),
    }
    corpus = overall(package, counts, speakers.silent())
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
    files = {"utterances.jsonl": lines.rows, "speakers.json": people.rows, "conversations.json": dialogues.rows}
    return [
        _described(folder / name, rows) for name, rows in {**files, "corpus.json": None, "index.json": None}.items()
    ]


def _write_json(path: Path, content: Json[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="ascii")


def _described(path: Path, rows: int | None) -> dict[str, Any]:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"path": path.name, "rows": rows, "bytes": path.stat().st_size, "sha256": sha256}


LAYOUT = Layout(plan, _write)
