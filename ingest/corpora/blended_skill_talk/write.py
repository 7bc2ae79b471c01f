"""Records back to files, piece by piece: JSON lists and objects, lists of lines, the persona list."""

from collections.abc import Callable, Iterator
from itertools import chain, islice

import msgspec
from msgspec import Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.convai2_persona_topicifier import write_convai2
from talkhouse.ingest.corpora.blended_skill_talk.ed_persona_topicifier import write_ed
from talkhouse.ingest.corpora.blended_skill_talk.files import (
    CONVAI2,
    ED,
    EPISODES,
    HUMAN_ANNOTATIONS,
    PERSONA_LIST,
    SAFE_PERSONAS,
    TOPICS,
    WIZARD,
)
from talkhouse.ingest.corpora.blended_skill_talk.human_annotations import write_human_annotations
from talkhouse.ingest.corpora.blended_skill_talk.persona_lists import (
    SEPARATOR,
    write_persona,
    write_safe_persona,
    write_topic,
)
from talkhouse.ingest.corpora.blended_skill_talk.wow_persona_topicifier import write_wow
from talkhouse.ingest.corpora.blended_skill_talk.write_dialogue import write_dialogue
from talkhouse.ingest.stored_record import StoredRecord, file_by_file


class _FileExtra(Struct):
    """What ``source_files.extra`` holds: what a file is beside its records."""

    shape: str = ""
    fields: list[str] = []
    head: str = ""
    tail: str = ""
    empty: list[int] = []
    lacks_final_newline: bool = False


_WRITERS: dict[str, Callable[[StoredRecord], bytes]] = {
    EPISODES: write_dialogue,
    PERSONA_LIST: write_persona,
    TOPICS: write_topic,
    SAFE_PERSONAS: write_safe_persona,
    ED: write_ed,
    HUMAN_ANNOTATIONS: write_human_annotations,
    CONVAI2: write_convai2,
    WIZARD: write_wow,
}


def write_record(stored: StoredRecord) -> bytes:
    """Return one loaded record as its file has it: the JSON of a member of a list, or what stands between separators.

    Of text files these are line ends, of persona_list.txt ``||``; an episode of ConvAI2 is several lines.
    """
    return _WRITERS[stored.loaded.subset or ""](stored)


def _file(envelope: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write a file as its envelope and its records say."""
    extra = decode.decoder(_FileExtra).decode(envelope.file.extra or "{}")
    pieces = (write_record(stored) if stored.raw is None else stored.raw for stored in records)
    return _SHAPES[extra.shape](extra, pieces)


write = file_by_file(_file)


def _list(_: _FileExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write a JSON list."""
    yield from chain((b"[",), _between(b", ", pieces), (b"]",))


def _object(extra: _FileExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write a JSON object."""
    keys = (msgspec.json.encode(key) + b": " for key in extra.fields)
    members = (key + piece for key, piece in zip(keys, pieces, strict=True))
    yield from chain((b"{",), _between(b", ", members), (b"}",))


def _personas(extra: _FileExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write the persona list, with its empty places."""
    filled = _with_empty(pieces, set(extra.empty))
    yield from chain((extra.head.encode(),), _between(SEPARATOR.encode(), filled), (extra.tail.encode(),))


def _with_empty(pieces: Iterator[bytes], empty: set[int]) -> Iterator[bytes]:
    position = 0
    for piece in chain(pieces, (None,)):
        while position in empty:
            yield b""
            position += 1
        if piece is not None:
            yield piece
            position += 1


def _lines(extra: _FileExtra, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write lines; a file without any has no line end either."""
    is_empty = True
    for piece in _between(b"\n", pieces):
        is_empty = False
        yield piece
    yield b"" if is_empty or extra.lacks_final_newline else b"\n"


def _between(separator: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Put a separator between pieces, at the beginning of all but the first."""
    yield from islice(pieces, 1)
    yield from (separator + piece for piece in pieces)


_SHAPES: dict[str, Callable[[_FileExtra, Iterator[bytes]], Iterator[bytes]]] = {
    "list": _list,
    "object": _object,
    "value": lambda _, pieces: pieces,
    "personas": _personas,
    "lines": _lines,
}
