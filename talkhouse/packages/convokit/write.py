"""Writes a corpus for ConvoKit: from the tables, a part of the corpus at a time."""

import hashlib
import json
from collections.abc import Mapping as Json
from pathlib import Path
from typing import Any

from talkhouse.packages.convokit.ascii_json import Lines, Mapping
from talkhouse.packages.convokit.conversations import Conversations
from talkhouse.packages.convokit.labels import Level
from talkhouse.packages.convokit.members import index
from talkhouse.packages.convokit.missing import MissingSpeakers
from talkhouse.packages.convokit.overall import overall
from talkhouse.packages.convokit.speakers import MEMBERS, Speakers
from talkhouse.packages.convokit.tables import Tables
from talkhouse.packages.convokit.utterances import Utterances
from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.row_stream import OnRows
from talkhouse.query.selection import NO_FILTERS, Filters, select
from talkhouse.schema.errors import UsageError
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import check_corpus

_MEMORY = 800_000_000
"""Bytes that DuckDB may hold; what is above goes to the disk, so that memory does not grow with the corpus."""


def write_convokit(
    warehouse: Warehouse,
    corpus_id: str,
    folder: Path,
    *,
    filters: Filters = NO_FILTERS,
    pseudonyms: Pseudonyms | None = None,
    on_rows: OnRows = lambda _: None,
) -> list[dict[str, Any]]:
    """Write a corpus into a folder that exists, and return its files: path, rows, bytes and sha256 of each.

    ``filters`` select records, by the columns of ``main.records``: their dialogues are written, with the labels and
    lists that came with these records. ``on_rows`` is called with the number of turns that were written.

    Raises UsageError for what is no corpus, or where no turn is selected.
    """
    con = warehouse.con
    check_corpus(con, corpus_id)
    records = None if filters == NO_FILTERS else select(warehouse, "main.records", filters)
    tables = Tables(warehouse, corpus_id, pseudonyms, records)
    if not tables.parts:
        raise UsageError(
            f"no turn of {corpus_id} is selected",
            next_step=f"see its records with: talkhouse sql \"from main.records where corpus_id = '{corpus_id}'\"",
        )
    rows = in_little_memory(con, _MEMORY, lambda: _write(tables, folder, on_rows))
    return [_described(folder / name, count) for name, count in rows.items()]


def _write(tables: Tables, folder: Path, on_rows: OnRows) -> dict[str, int | None]:
    """Write all files, and return the number of objects in each."""
    con, missing = tables.warehouse.con, MissingSpeakers(tables)
    utterances, speakers, conversations = Utterances(tables, missing), Speakers(tables, missing), Conversations(tables)
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
    corpus = overall(tables, counts, speakers.silent())
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
    return {**files, "corpus.json": None, "index.json": None}


def _write_json(path: Path, content: Json[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="ascii")


def _described(path: Path, rows: int | None) -> dict[str, Any]:
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"path": path.name, "rows": rows, "bytes": path.stat().st_size, "sha256": sha256}
