"""The rows of a record back to what its file has: JSON equal in every value, text byte for byte."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ingest import decode
from ingest.corpora.blended_skill_talk.convai2 import Entry, published_lines
from ingest.corpora.blended_skill_talk.lists import topic_line
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
from ingest.stored_record import StoredRecord


class Beside(Struct):
    """What ``records.extra`` of the auxiliary files holds."""

    entries: list[dict[str, Raw]] = []
    lines: list[str] | None = None
    differs: dict[str, str] = {}
    lacks_final_newline: bool = False
    value: Raw = Raw(b"null")


def write_record(published: StoredRecord) -> bytes:
    """Give one loaded record as its file has it: the JSON of a member of a list, or what stands between separators.

    Of text files these are line ends, of persona_list.txt ``||``; an episode of ConvAI2 is several lines.
    """
    record = published.record
    assert record is not None  # noqa: S101 - it was loaded
    if record.subset == EPISODES:
        return episode(published)
    extra = decode.decoder(Beside).decode(record.extra or "{}")
    return _WRITERS[record.subset or ""](published, extra)


def _topic(published: StoredRecord, extra: Beside) -> bytes:
    """Write one line of the topics, as it was where Python would print the list in another way."""
    if "" in extra.differs:
        return extra.differs[""].encode()
    topic = published.record.native_id if published.record else None
    return topic_line(topic or "", _sentences(published)).encode()


def _sentences(published: StoredRecord) -> list[str]:
    return [published.personas[use.persona_id].text for use in published.persona_uses]


def _persona(published: StoredRecord, extra: Beside) -> bytes:
    """Write one persona of the list, a sentence a line."""
    lines = zip(published.persona_uses, _sentences(published), strict=True)
    text = "\n".join(sentence if use.extra else PERSONA_LINE + sentence for use, sentence in lines)
    return (text + ("" if extra.lacks_final_newline else "\n")).encode()


def _convai2(published: StoredRecord, extra: Beside) -> bytes:
    """Write the numbered lines of an episode."""
    if extra.lines is not None:
        return "\n".join(extra.lines).encode()
    entries = []
    for number, kept in enumerate(extra.entries):
        text, labels = decode.decoder(str).decode(kept["text"]), decode.decoder(list[str]).decode(kept["labels"])
        entries.append(Entry(text, labels, _texts(published, number)))
    return "\n".join(published_lines(entries)).encode()


def _cached(published: StoredRecord, extra: Beside) -> bytes:
    """Put the lists of candidates back where their numbers stand."""
    entries: list[dict[str, Any]] = []
    for number, kept in enumerate(extra.entries):
        entry: dict[str, Any] = dict(kept)
        if bytes(kept.get("label_candidates", Raw(b"null"))) != b"null":
            entry["label_candidates"] = _texts(published, number)
        entries.append(entry)
    return msgspec.json.encode(entries)


def _texts(published: StoredRecord, index: int) -> list[str]:
    return [published.texts[row.text_id or ""] for row in published.candidates if row.turn_index == index]


_WRITERS: dict[str, Callable[[StoredRecord, Beside], bytes]] = {
    PERSONA_LIST: _persona,
    TOPICS: _topic,
    SAFE_PERSONAS: lambda published, _: "|".join(_sentences(published)).encode(),
    CONVAI2: _convai2,
    CACHED: _cached,
    WIZARD: lambda published, _: (published.candidates[0].extra or "").encode(),
    HUMAN: lambda _, extra: bytes(extra.value),
}
