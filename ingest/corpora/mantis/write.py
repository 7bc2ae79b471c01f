"""Rows back to the publisher's files: JSON equal in every value, TSV, lookup and CSV files byte for byte."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from msgspec import Raw, Struct
from msgspec.json import decode

from talkhouse.ingest.corpora.mantis import intent_table
from talkhouse.ingest.corpora.mantis.format import (
    CONVERSATIONS,
    INTENTS_CSV,
    MANIFEST,
    RANKING,
    Role,
    role,
    text_of,
    write_manifest,
)
from talkhouse.ingest.corpora.mantis.ranking import WINDOW
from talkhouse.ingest.corpora.mantis.tsv import row
from talkhouse.ingest.decode import literals, pointer
from talkhouse.ingest.rows import Dialogue, Record, Speaker, Turn
from talkhouse.ingest.stored_record import StoredRecord, as_published, file_by_file


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Write files in pieces: (path inside the corpus's folder, bytes). Lookup files come last, from blocks' keys."""
    rankings = _RankingWriter()

    def write_file(first: StoredRecord, following: Iterator[StoredRecord]) -> Iterator[bytes]:
        part = role(PurePosixPath(first.path).name)
        assert part is not None  # noqa: S101 - the reader gave it by this name
        if part.subset in CONVERSATIONS:
            return _conversations(first, following)
        if part.subset == INTENTS_CSV:
            return intent_table.write(first, following)
        if part.subset == MANIFEST:
            return iter([write_manifest(first)])
        return rankings.write(first, following, part)

    yield from file_by_file(write_file)(records)
    yield from rankings.lookups()


def text_ids_of(record: Record) -> list[str]:
    """List the texts of a block's context that is in no dialogue."""
    return _extra(record).own_texts or [] if record.subset in RANKING else []


def write_record(stored: StoredRecord) -> bytes:
    """Write one record as its file has it: a dialogue's JSON, the lines of a block, a line of the table of intents."""
    subset = stored.loaded.subset
    if subset in CONVERSATIONS:
        return _dialogue(stored, _orders(stored))
    if subset == INTENTS_CSV:
        return intent_table.write_record(stored)
    return _lines(stored) if subset in RANKING else _runs(stored)


class _ConversationFileExtra(Struct):
    orders: list[list[str]] = []


class _DialogueRecordExtra(Struct):
    fields: list[str] = []
    lists: dict[str, Raw] = {}
    differs: dict[str, str] = {}
    unknown: dict[str, Raw] = {}
    literals: dict[str, str] = {}
    has_intent_labels: Raw = Raw()
    orders: int | list[int] | None = None

    def stated(self) -> dict[str, str]:
        """Return the JSON of all values that the record itself has, by pointer."""
        own = _texts(self.unknown | self.lists) | self.literals | self.differs
        return {"/" + at.removeprefix("/"): text for at, text in own.items()}


class _DialogueTurnExtra(Struct):
    votes: Raw = Raw(b"null")
    is_answer: Raw = Raw(b"null")
    utterance_pos: int | None = None
    literals: dict[str, str] = {}
    fields: int = 0
    unknown: dict[str, Raw] = {}


def _conversations(first: StoredRecord, following: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write one file, dialogue by dialogue."""
    orders = _orders(first)
    yield b"{"
    for index, stored in enumerate(following):
        key = stored.pointer.removeprefix("/").partition("#")[0]
        start = f"{', ' if index else ''}{json.dumps(key)}: ".encode()
        yield start + (stored.raw if stored.raw is not None else _dialogue(stored, orders))
    yield b"}"


def _orders(stored: StoredRecord) -> list[list[str]]:
    """Return the orders of keys of the utterances in a file."""
    return decode(stored.file.extra or "{}", type=_ConversationFileExtra).orders


def _dialogue(stored: StoredRecord, orders: list[list[str]]) -> bytes:
    """Write a dialogue: as the tables have it, but for what its record states itself."""
    assert stored.dialogue is not None  # noqa: S101 - every loaded record is a dialogue
    own = decode(stored.loaded.extra or "{}", type=_DialogueRecordExtra)
    stated = own.stated()
    utterances = []
    for index, turn in enumerate(stored.turns):
        extra = decode(turn.extra or "{}", type=_DialogueTurnExtra)
        values = _utterance(turn, stored.speakers[turn.speaker_id or ""], extra)
        values["intent"] = json.dumps([row.label for row in stored.annotations_by_turn[index]])
        number = extra.fields if own.orders is None else own.orders
        order = orders[number if isinstance(number, int) else number[index]]
        utterances.append(_object(values, order, stated, pointer("utterances", index)))
    values = _facts(stored.dialogue)
    values |= {"has_intent_labels": _text(own.has_intent_labels), "utterances": f"[{', '.join(utterances)}]"}
    return as_published(stored, _object(values, own.fields, stated).encode())


def _facts(dialogue: Dialogue) -> dict[str, str]:
    """Return the JSON of what the row of a dialogue says."""
    extra = literals(dialogue.extra)
    own = decode(extra.pop("literals", Raw(b"{}")), type=dict[str, str])
    columns = {"category": dialogue.domain, "title": dialogue.title, "dialog_time": text_of(dialogue.started_at)}
    return {name: json.dumps(value) for name, value in columns.items()} | _texts(extra) | own


def _utterance(turn: Turn, speaker: Speaker, extra: _DialogueTurnExtra) -> dict[str, str]:
    """Return the JSON of what the row of a turn says."""
    values = {
        "utterance": json.dumps(turn.text),
        "utterance_time": json.dumps(text_of(turn.said_at)),
        "utterance_pos": str(turn.turn_index + 1 if extra.utterance_pos is None else extra.utterance_pos),
        "actor_type": json.dumps(turn.role),
        "user_name": json.dumps(speaker.name),
        "user_id": speaker.native_id or "null",
        "votes": _text(extra.votes),
        "id": json.dumps(turn.native_id),
        "is_answer": _text(extra.is_answer),
    }
    return values | _texts(extra.unknown) | extra.literals


def _object(values: dict[str, str], names: Iterable[str], stated: Mapping[str, str], at: str = "") -> str:
    """Write an object with these names in order; ``stated`` goes before its values."""
    if stated:
        values |= {name: stated[at_name] for name in names if (at_name := at + pointer(name)) in stated}
    return "{" + ", ".join(f"{json.dumps(name)}: {values[name]}" for name in names) + "}"


def _texts(raws: Mapping[str, Raw]) -> dict[str, str]:
    return {name: _text(raw) for name, raw in raws.items()}


def _text(raw: Raw) -> str:
    return bytes(raw).decode()


class _RankingFileExtra(Struct):
    lines: int = 0
    line_end: str = "\n"
    lacks_final_newline: bool = False

    @property
    def end(self) -> bytes:
        """What each line ends with."""
        return self.line_end.encode()

    def as_last(self, text: bytes) -> bytes:
        """Return the last lines of the file as it has them."""
        return text.removesuffix(self.end) if self.lacks_final_newline else text


class _BlockRecordExtra(Struct):
    line: int = 0
    size: int = 0
    own_texts: list[str] | None = None
    written: dict[int, str] = {}
    runs: list[tuple[str, int]] = []


class _BlockKey(NamedTuple):
    """Lines of a lookup file: the key of a block, once for each of its rows."""

    line: int
    """The first."""
    key: bytes
    """Or the lines as they came, where the number of rows is 0."""
    rows: int


class _RankingWriter:
    """Writes TSVs as their blocks come, and keeps the keys of each block for the lookup file."""

    def __init__(self) -> None:
        self._keys: defaultdict[Role, list[_BlockKey]] = defaultdict(list)
        self._lookups: list[tuple[Role, list[StoredRecord]]] = []

    def write(self, first: StoredRecord, following: Iterator[StoredRecord], role: Role) -> Iterator[bytes]:
        """Write a TSV block by block, a rejected block as it came; a lookup file is put off."""
        if role.subset not in RANKING:
            self._lookups.append((role, [first, *following]))
            return
        file = _file_extra(first)
        left = file.lines
        yield b""
        for block in following:
            if block.raw is not None:
                left -= block.raw.count(b"\n")
                yield block.raw
                continue
            extra = _extra(block.loaded)
            if block.loaded.native_id is not None:
                self._keys[role].append(_BlockKey(extra.line, block.loaded.native_id.encode(), extra.size))
            text = _lines(block)
            left -= text.count(b"\n")
            yield text if left else file.as_last(text)

    def lookups(self) -> Iterator[tuple[str, bytes]]:
        """Write the lookup files (path, piece), when all TSVs have been written."""
        for part, (first, *following) in self._lookups:
            if following and following[0].record:
                yield first.path, _runs(following[0])
                continue
            file = _file_extra(first)
            yield first.path, b""
            keys = self._keys[Role(part.subset.removesuffix("_lookup"), part.split)]
            keys += [_BlockKey(int(entry.pointer[1:]), entry.raw, 0) for entry in following if entry.raw is not None]
            for line, key, count in sorted(keys):
                text = (key + file.end) * count or key
                yield first.path, file.as_last(text) if count and line + count == file.lines else text


def _lines(block: StoredRecord) -> bytes:
    """Write the lines of one block, with the line ends of its file."""
    extra, end = _extra(block.loaded), _file_extra(block).end
    written = {position: text.encode() + b"\n" for position, text in extra.written.items()}
    context = _context(block, extra)
    rows = []
    for candidate in block.candidates:
        label = "1" if candidate.position == 0 else "0"
        text = block.texts[candidate.text_id or ""]
        rows.append(written.get(candidate.position) or row([label, *context, text]).encode() + end)
    return b"".join(rows)


def _runs(stored: StoredRecord) -> bytes:
    """Write a lookup file that came without its TSV."""
    found = _extra(stored.loaded).runs
    return _file_extra(stored).as_last(b"".join((key.encode() + b"\n") * count for key, count in found))


def _context(block: StoredRecord, extra: _BlockRecordExtra) -> list[str]:
    """Return the utterances before the response: the dialogue's own, or those that the block keeps by itself."""
    if extra.own_texts is not None:
        return [block.texts[text_id] for text_id in extra.own_texts]
    turn = block.candidates[0].turn_index or 0
    return [earlier.text for earlier in block.turns[max(0, turn - WINDOW) : turn]]


def _extra(record: Record) -> _BlockRecordExtra:
    return decode(record.extra or "{}", type=_BlockRecordExtra)


def _file_extra(stored: StoredRecord) -> _RankingFileExtra:
    return decode(stored.file.extra or "{}", type=_RankingFileExtra)
