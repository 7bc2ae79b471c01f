"""The package of ``--for convokit``: a corpus, or its dialogues of the records wanted, some dialogues at a time."""

import codecs
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.export.expressions import QueryColumn, json_object
from talkhouse.export.manifest import of_build
from talkhouse.export.pseudonyms import Pseudonyms
from talkhouse.export.row_stream import OnRows, QueryRows
from talkhouse.export.selection import NO_FILTERS, Filters, Selection, select
from talkhouse.export.terms import parts_of, with_terms
from talkhouse.packages.content import Config, ExportPackage, PackageLayout, SplitRows, described_file
from talkhouse.packages.convokit.conversations import MEMBERS, Conversations, ConvoKitSpeakers, Utterances
from talkhouse.packages.convokit.corpus_tables import ConvoKitLabels, CorpusTables, LabelLevel, MissingSpeakers, index
from talkhouse.schema.errors import UsageError, closest
from talkhouse.schema.sql import literal
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.opened import Warehouse

_FILES = ("utterances.jsonl", "speakers.json", "conversations.json", "corpus.json", "index.json")


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, CorpusPackage)  # noqa: S101 - it is what ``plan`` returns
    tables, con = package.tables, package.warehouse.con
    missing, labels = MissingSpeakers(tables), ConvoKitLabels(tables)
    utterances, conversations = Utterances(tables, missing, labels), Conversations(tables, labels)
    speakers = ConvoKitSpeakers(tables, missing)
    written = {
        "utterances": _write_lines(
            con, folder / "utterances.jsonl", (utterances.query(part) for part in tables.parts), on_rows
        ),
        "speakers": _write_mapping(con, folder / "speakers.json", [speakers.query()]),
        "conversations": _write_mapping(
            con, folder / "conversations.json", (conversations.query(part) for part in tables.parts)
        ),
    }
    labelled = tables.count("annotations", f"not ({LabelLevel.NONE})")
    corpus = _overall(package, {**written, "labels": labelled}, speakers.silent())
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
    """Write the rows of queries as JSON objects, one a line; return their number."""
    count = 0
    with path.open("wb") as stream:
        for query in queries:
            rows = QueryRows(con, con.sql(query), on_rows=on_rows)
            stream.writelines(map(_in_ascii, rows.lines(json_object)))
            count += rows.count
    return count


def _write_mapping(con: duckdb.DuckDBPyConnection, path: Path, queries: Iterable[str]) -> int:
    """Write the rows of queries as one JSON object: the first column is the key, the others the value; count them."""
    count = 0
    with path.open("wb") as stream:
        for query in queries:
            rows = QueryRows(con, con.sql(query))
            for lines in rows.lines(_member):
                # Each member begins with a comma, the first one with the brace instead.
                text = _in_ascii(lines)
                stream.write(text if stream.tell() else b"{" + text[1:])
            count += rows.count
        stream.write(b"}\n" if stream.tell() else b"{}\n")
    return count


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="ascii")


@dataclass(frozen=True, kw_only=True)
class CorpusPackage(ExportPackage):
    """A package of a corpus."""

    tables: CorpusTables


def _plan(warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None) -> CorpusPackage:
    """Plan the package of a corpus; ``filters`` are those of ``main.records``, by its columns.

    Its dialogues are those of the records wanted, with the labels and lists that came with these records. Raises
    UsageError for what is no corpus, and where no turn is wanted.
    """
    if name not in warehouse.corpus_ids:
        raise UsageError(
            f"--for convokit exports corpora, and '{name}' is not one",
            expected=f"one of: {', '.join(closest(name, warehouse.corpus_ids))}",
            next_step="name a corpus; views and tables are for --for huggingface",
        )
    of_corpus = f"corpus_id = {literal(name)}"
    records = select(warehouse, _RECORDS, filters).narrowed(of_corpus)
    dialogues = select(warehouse, "main.dialogues").narrowed(of_corpus)
    tables = CorpusTables(warehouse, name, pseudonyms, None if filters == NO_FILTERS else records)
    if not tables.parts:
        raise UsageError(
            f"no turn of {name} is wanted" if filters != NO_FILTERS else f"{name} has no turns",
            expected=f"filters that records of {name} pass, of which one has a dialogue" if tables.records else None,
            next_step=f"see them with: talkhouse sql \"from records where corpus_id = '{name}'\"",
        )
    if tables.records:
        dialogues = dialogues.narrowed(f"dialogue_id in (select dialogue_id from ({records.rows(['dialogue_id'])}))")
    return CorpusPackage(
        warehouse,
        name,
        (Config("records", records, metadata.tables["records"].comment or "", _splits(warehouse, records)),),
        [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == name],
        parts_of(warehouse, [records, dialogues]),
        pseudonyms.fingerprint if pseudonyms else None,
        tables=tables,
    )


LAYOUT = PackageLayout(_plan, _write)

_ORDER = "the turn before it"
_PUBLISHED = "the published turn where all turns of the conversation are one tree by that, else the turn before it"


def _overall(package: CorpusPackage, counts: dict[str, int], silent_speakers: int) -> dict[str, Any]:
    """Return the metadata of the corpus, as ``corpus.json`` has them; none of them is null."""
    tables = package.tables
    (corpus,) = with_terms(package.corpora, package.parts)
    return {
        "talkhouse": {name: value for name, value in of_build(package.warehouse).items() if value is not None},
        "corpus": corpus,
        "counts": counts,
        "silent_speakers": silent_speakers,
        "reply_to": _PUBLISHED if tables.has["turns.reply_to"] else _ORDER,
        "left_out": _left_out(tables),
        **({"pseudonyms": package.pseudonyms} if package.pseudonyms else {}),
    }


def _left_out(tables: CorpusTables) -> dict[str, int]:
    speakers = f"select speaker_id from {tables.rows('turns')} where speaker_id is not null"
    used = f"select persona_id from {tables.rows('persona_uses', 'dialogue_id is not null')}"
    turns = f"select dialogue_id from {tables.rows('turns')}"
    con = tables.warehouse.con
    persons = f"""
    select count(*) from {tables.rows("personas")}
    where coalesce(speaker_id not in ({speakers}), true) and persona_id not in ({used})
    """
    ((personas,),) = con.execute(persons).fetchall()
    ((dialogues,),) = con.execute(
        f"select count(*) from {tables.rows('dialogues')} where dialogue_id not in ({turns})"
    ).fetchall()
    return {
        "candidates": tables.count("candidates"),
        "dialogues": dialogues,
        "labels": tables.count("annotations", LabelLevel.NONE),
        "personas": personas,
        "records": tables.count("records", "dialogue_id is null"),
        "images": tables.count("images"),
    }


_RECORDS = "main.records"


def _splits(warehouse: Warehouse, records: Selection) -> tuple[SplitRows, ...]:
    query = f"""
    select split, coalesce(split, 'all'), any_value(standard_split), count(*)
    from ({records.rows(["split", "standard_split"])})
    group by split
    order by count(*) desc, split
    """
    return tuple(SplitRows(*row) for row in warehouse.con.execute(query).fetchall())


_ESCAPED = "talkhouse.json"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return a run of other characters as JSON escapes them, those beyond 16 bits as a pair of surrogates."""
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - it is for encoding only
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escaped)


def _in_ascii(text: bytes) -> bytes:
    return text if text.isascii() else text.decode().encode("ascii", _ESCAPED)


def _member(columns: Sequence[QueryColumn]) -> str:
    key, *value = columns
    return f"concat(',', {key.as_json()}, ':', {json_object(value)})"
