"""The files of a package for ConvoKit, as ConvoKit reads them, and what the tables say must be in them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.export.export import settings
from talkhouse.export.formats import Tool
from talkhouse.export.selection import NO_FILTERS, Filters
from talkhouse.packages.export import WrittenPackage, export_package
from talkhouse.schema.sql import dicts
from talkhouse.warehouse.opened import opened

Json = dict[str, Any]

RECORD = ("record_id", "release", "subset", "split", "standard_split", "record_index", "main_speaker_id")


def export(
    database: Path, corpus_id: str, output: Path, filters: Filters = NO_FILTERS, key_file: Path | None = None
) -> WrittenPackage:
    with opened(database, settings=settings(output)) as warehouse:
        return export_package(
            warehouse, corpus_id, Tool.CONVOKIT, output, filters=filters, is_accepted=True, key_file=key_file
        )


@dataclass(frozen=True)
class Files:
    """The content of the files."""

    utterances: list[Json]
    speakers: Json
    conversations: Json
    corpus: Json
    index: Json

    @classmethod
    def read(cls, folder: Path) -> "Files":
        """Read a folder; all of it is ASCII, and no value is NaN."""
        lines = (folder / "utterances.jsonl").read_text(encoding="ascii").split("\n")
        assert lines.pop() == ""
        utterances = [json.loads(line, parse_constant=_refused) for line in lines]
        names = ("speakers", "conversations", "corpus", "index")
        texts = ((folder / f"{name}.json").read_text(encoding="ascii") for name in names)
        return cls(utterances, *(json.loads(text, parse_constant=_refused) for text in texts))


def _refused(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def check(folder: Path, con: duckdb.DuckDBPyConnection, corpus_id: str) -> Files:
    files = Files.read(folder)
    _check_turns(files, con, corpus_id)
    _check_speakers(files, con, corpus_id)
    _check_conversations(files, con, corpus_id)
    assert labels_of(files, corpus_id) == _stored_labels(files, con, corpus_id)
    _check_index(files)
    return files


def _turns(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[Json]:
    return dicts(
        con.execute(
            "select *, said_at::varchar as said, epoch_us(said_at) as us from main.turns "
            "where starts_with(dialogue_id, $1 || ':') order by dialogue_id, turn_index",
            [corpus_id],
        )
    )


def _check_turns(files: Files, con: duckdb.DuckDBPyConnection, corpus_id: str) -> None:
    turns = _turns(con, corpus_id)
    untimed = {turn["dialogue_id"] for turn in turns if turn["said_at"] is None}
    assert len(files.utterances) == len(turns)
    before: Json = {}
    for utterance, turn in zip(files.utterances, turns, strict=True):
        dialogue_id = turn["dialogue_id"]
        assert utterance["id"] == f"{dialogue_id}#{turn['turn_index']:04}"
        assert utterance["conversation_id"] == dialogue_id
        assert utterance["text"] == turn["text"]
        assert utterance["speaker"] == (turn["speaker_id"] or f"{dialogue_id}/unknown")
        assert utterance["reply-to"] == (before["id"] if before.get("conversation_id") == dialogue_id else None)
        assert utterance["timestamp"] == (turn["turn_index"] if dialogue_id in untimed else turn["us"] / 1e6)
        assert utterance["vectors"] == []
        meta = {name: utterance["meta"][name] for name in ("turn_index", "role", "kind", "native_id", "said_at")}
        assert meta == {**{name: turn[name] for name in meta}, "said_at": turn["said"]}
        assert utterance["meta"]["extra"] == _parsed(turn["extra"])
        before = utterance
    for dialogue_id, conversation in files.conversations.items():
        assert conversation["meta"]["timestamps"] == ("position" if dialogue_id in untimed else "published")


def _check_speakers(files: Files, con: duckdb.DuckDBPyConnection, corpus_id: str) -> None:
    speaking = {utterance["speaker"] for utterance in files.utterances}
    assert files.speakers.keys() == speaking
    rows = dicts(con.execute("from main.speakers where corpus_id = ?", [corpus_id]))
    assert files.corpus["silent_speakers"] == len([row for row in rows if row["speaker_id"] not in speaking])
    personas = defaultdict(list)
    for row in dicts(con.execute("from main.personas where corpus_id = ? order by persona_id", [corpus_id])):
        personas[row["speaker_id"]].append({**row, "extra": _parsed(row["extra"])})
    for row in rows:
        if row["speaker_id"] not in speaking:
            continue
        meta = files.speakers[row["speaker_id"]]["meta"]
        assert not meta["is_missing"]
        assert meta["is_ai"] == (row["kind"] == "bot")
        plain = ("kind", "name", "native_id", "is_anonymous")
        assert {name: meta[name] for name in plain} == {name: row[name] for name in plain}
        assert meta["extra"] == _parsed(row["extra"])
        names = ("persona_id", "native_id", "text", "image_file", "image_url", "extra")
        owned = [{name: persona[name] for name in names} for persona in personas[row["speaker_id"]]]
        assert (meta["personas"] or []) == owned
    for speaker_id in speaking - {row["speaker_id"] for row in rows}:
        assert speaker_id.endswith("/unknown")
        assert files.speakers[speaker_id]["meta"]["is_missing"]


def _check_conversations(files: Files, con: duckdb.DuckDBPyConnection, corpus_id: str) -> None:
    rows = dicts(
        con.execute("select *, started_at::varchar as started from main.dialogues where corpus_id = ?", [corpus_id])
    )
    assert sorted(files.conversations) == sorted(row["dialogue_id"] for row in rows)
    published, lists = defaultdict(list), Counter[tuple[Any, ...]]()
    for record in dicts(con.execute("from main.records where corpus_id = ? order by record_id", [corpus_id])):
        published[record["dialogue_id"]].append(record)
    people = dicts(
        con.execute("from main.participants where starts_with(dialogue_id, $1 || ':') order by all", [corpus_id])
    )
    speaking = {(utterance["conversation_id"], utterance["speaker"]) for utterance in files.utterances}
    for row in rows:
        meta, records = files.conversations[row["dialogue_id"]]["meta"], published[row["dialogue_id"]]
        plain = ("native_id", "domain", "title", "language")
        assert {name: meta[name] for name in plain} == {name: row[name] for name in plain}
        assert (meta["started_at"], meta["extra"]) == (row["started"], _parsed(row["extra"]))
        assert meta["records"] == [{name: record[name] for name in RECORD} for record in records]
        for names, column in (("splits", "split"), ("standard_splits", "standard_split"), ("releases", "release")):
            assert meta[names] == sorted({record[column] for record in records} - {None})
        assert meta["split"] == (meta["splits"][0] if len(meta["splits"]) == 1 else None)
        assert meta["participants"] == [
            {"speaker_id": who, "role": person["role"], "speaks": (row["dialogue_id"], who) in speaking}
            for person in people
            if person["dialogue_id"] == row["dialogue_id"] and (who := person["speaker_id"])
        ]
        for each in meta["persona_lists"] or ():
            place = (each["record_id"], each["turn_index"], each["persona_set"], each["speaker_id"])
            lists.update((*place, *item) for item in zip(each["persona_ids"], each["texts"], strict=True))
    stored = con.execute(
        "select record_id, turn_index, persona_set, uses.speaker_id, persona_id, text "
        "from main.persona_uses as uses inner join main.personas using (persona_id) "
        "where starts_with(record_id, $1 || '/') and dialogue_id is not null",
        [corpus_id],
    )
    assert lists == Counter(stored.fetchall())


def labels_of(files: Files, corpus_id: str) -> Counter[tuple[Any, ...]]:
    """List the labels of all metadata: scheme, what is labelled, record, persona, annotator, label and number."""
    return Counter(label for label in _labels(files, corpus_id))


def _labels(files: Files, corpus_id: str) -> Iterator[tuple[Any, ...]]:
    things = [
        ((utterance["conversation_id"], utterance["meta"]["turn_index"]), utterance["meta"])
        for utterance in files.utterances
    ]
    things += [((dialogue_id, None), conversation["meta"]) for dialogue_id, conversation in files.conversations.items()]
    for place, meta in things:
        for key in (key for key in meta if key.startswith("label_") and meta[key] is not None):
            name, value = key.removeprefix("label_"), meta[key]
            scheme = (f"{corpus_id}.{name}", *place)
            if not isinstance(value, list):
                about = meta.get(f"about_{name}") or {}
                label, number = (None, value) if isinstance(value, float) else (value, about.get("value"))
                yield (*scheme, None, about.get("persona_id"), about.get("annotator"), label, number)
                continue
            for entry in value:
                size = len(entry["labels"])
                lists = (entry[name] or [None] * size for name in ("annotators", "labels", "values"))
                for annotator, label, number in zip(*lists, strict=True):
                    yield (*scheme, entry["record_id"], entry["persona_id"], annotator, label, number)


def _stored_labels(files: Files, con: duckdb.DuckDBPyConnection, corpus_id: str) -> Counter[tuple[Any, ...]]:
    """List the labels of the tables, without the record where the file has one value for the whole corpus."""
    bare = {f"{corpus_id}.{name.removeprefix('label_')}" for name in _bare(files)}
    rows = con.execute(
        "select scheme, dialogue_id, turn_index, record_id, persona_id, annotator_id, label, value "
        "from main.annotations where starts_with(record_id, $1 || '/') and dialogue_id is not null",
        [corpus_id],
    )
    return Counter((*row[:3], None if row[0] in bare else row[3], *row[4:]) for row in rows.fetchall())


def _bare(files: Files) -> Iterator[str]:
    for kind in ("utterances-index", "conversations-index"):
        yield from (
            name for name, types in files.index[kind].items() if name.startswith("label_") and "list" not in types[0]
        )


def _check_index(files: Files) -> None:
    """Every object has every key, every key is in the index, and every value is of the type that is named there."""
    of = {
        "utterances-index": [utterance["meta"] for utterance in files.utterances],
        "speakers-index": [speaker["meta"] for speaker in files.speakers.values()],
        "conversations-index": [conversation["meta"] for conversation in files.conversations.values()],
        "overall-index": [files.corpus],
    }
    for name, metas in of.items():
        types = files.index[name]
        for meta in metas:
            assert meta.keys() == types.keys()
            for key, value in meta.items():
                assert value is None or str(type(value)) in types[key], key
    assert (files.index["version"], files.index["vectors"]) == (1, [])


def _parsed(extra: str | None) -> Any:
    return None if extra is None else json.loads(extra)
