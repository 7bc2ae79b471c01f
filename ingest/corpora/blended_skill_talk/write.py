"""Rows back to files: JSON equal in every value with keys in published order, text files byte for byte."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ingest import decode
from ingest.corpora.blended_skill_talk.convai2 import Entry, published_lines
from ingest.corpora.blended_skill_talk.lists import BETWEEN, topic_line
from ingest.corpora.blended_skill_talk.names import (
    CACHED,
    CONVAI2,
    EPISODES,
    HUMAN,
    PERSONA_LINE,
    PERSONA_LIST,
    SAFE_PERSONAS,
    TOPICS,
    WIZARD,
)
from ingest.corpora.blended_skill_talk.write_episode import episode
from ingest.corpus import Published
from ingest.sources import BOM, BOM_NOTE


class Around(Struct):
    """What ``source_files.extra`` holds: what a file is beside its records."""

    shape: str = ""
    fields: list[str] = []
    head: str = ""
    tail: str = ""
    empty: list[int] = []
    lacks_final_newline: bool = False


class Beside(Struct):
    """What ``records.extra`` of the auxiliary files holds."""

    entries: list[dict[str, Raw]] = []
    lines: list[str] | None = None
    differs: dict[str, str] = {}
    lacks_final_newline: bool = False
    value: Raw = Raw(b"null")


def write(records: Iterable[Published]) -> Iterator[tuple[str, bytes]]:
    """Give (path inside the corpus's folder, bytes) of every file; archives are folders of their members."""
    for _, group in groupby(records, key=lambda published: published.file.source_file_id):
        yield _file(iter(group))


def _file(group: Iterator[Published]) -> tuple[str, bytes]:
    first = next(group)
    if first.file.kind == "refused":
        return first.path, first.raw or b""
    around = decode.decoder(Around).decode(first.file.extra or "{}")
    is_frame = first.record is None and first.raw is None
    pieces = [_piece(one) for one in ([] if is_frame else [first])]
    pieces += [_piece(one) for one in group]
    mark = BOM if first.file.note == BOM_NOTE else b""
    return first.path, mark + _together(around, pieces)


def _together(around: Around, pieces: list[bytes]) -> bytes:
    """Put the records of a file together by what the file is."""
    if around.shape == "list":
        return b"[" + b", ".join(pieces) + b"]"
    if around.shape == "object":
        keys = (msgspec.json.encode(key) for key in around.fields)
        return b"{" + b", ".join(key + b": " + piece for key, piece in zip(keys, pieces, strict=True)) + b"}"
    if around.shape == "value":
        return pieces[0]
    if around.shape == "personas":
        for index in around.empty:
            pieces.insert(index, b"")
        return around.head.encode() + BETWEEN.encode().join(pieces) + around.tail.encode()
    if not pieces:
        return b""
    return b"\n".join(pieces) + (b"" if around.lacks_final_newline else b"\n")


def _piece(published: Published) -> bytes:
    """Write one record."""
    record = published.record
    if record is None:
        return published.raw or b""
    if record.subset == EPISODES:
        return episode(published)
    extra = decode.decoder(Beside).decode(record.extra or "{}")
    return _WRITERS[record.subset or ""](published, extra)


def _topic(published: Published, extra: Beside) -> bytes:
    """Write one line of the topics, as it was where Python would print the list in another way."""
    if "" in extra.differs:
        return extra.differs[""].encode()
    topic = published.record.native_id if published.record else None
    return topic_line(topic or "", _sentences(published)).encode()


def _sentences(published: Published) -> list[str]:
    return [published.personas[use.persona_id].text for use in published.persona_uses]


def _persona(published: Published, extra: Beside) -> bytes:
    """Write one persona of the list, a sentence a line."""
    lines = zip(published.persona_uses, _sentences(published), strict=True)
    text = "\n".join(sentence if use.extra else PERSONA_LINE + sentence for use, sentence in lines)
    return (text + ("" if extra.lacks_final_newline else "\n")).encode()


def _convai2(published: Published, extra: Beside) -> bytes:
    """Write the numbered lines of an episode."""
    if extra.lines is not None:
        return "\n".join(extra.lines).encode()
    entries = []
    for number, kept in enumerate(extra.entries):
        text, labels = decode.decoder(str).decode(kept["text"]), decode.decoder(list[str]).decode(kept["labels"])
        entries.append(Entry(text, labels, _texts(published, number)))
    return "\n".join(published_lines(entries)).encode()


def _cached(published: Published, extra: Beside) -> bytes:
    """Put the lists of candidates back where their numbers stand."""
    entries: list[dict[str, Any]] = []
    for number, kept in enumerate(extra.entries):
        entry: dict[str, Any] = dict(kept)
        if bytes(kept.get("label_candidates", Raw(b"null"))) != b"null":
            entry["label_candidates"] = _texts(published, number)
        entries.append(entry)
    return msgspec.json.encode(entries)


def _texts(published: Published, index: int) -> list[str]:
    return [published.texts[row.text_id or ""] for row in published.candidates if row.turn_index == index]


_WRITERS: dict[str, Callable[[Published, Beside], bytes]] = {
    PERSONA_LIST: _persona,
    TOPICS: _topic,
    SAFE_PERSONAS: lambda published, _: "|".join(_sentences(published)).encode(),
    CONVAI2: _convai2,
    CACHED: _cached,
    WIZARD: lambda published, _: (published.candidates[0].extra or "").encode(),
    HUMAN: lambda _, extra: bytes(extra.value),
}
