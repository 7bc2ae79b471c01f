"""Rows back to the task files and the files of image addresses: equal in every value, keys in published order."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from tempfile import TemporaryFile
from typing import IO

import msgspec
from msgspec import Raw, Struct

from talkhouse.ingest.corpora.mpchat.files import TASK_FILES
from talkhouse.ingest.corpora.mpchat.format import SPLITS
from talkhouse.ingest.corpora.mpchat.images import write_images
from talkhouse.ingest.corpora.mpchat.write_dialogue import ElementWriter, unescaped, write_dialogue
from talkhouse.ingest.stored_record import StoredRecord, file_by_file

_BETWEEN = b", "
_COPIED = 1 << 20
"""Bytes that are copied from a temporary file at once."""


class _FileExtra(Struct):
    """What ``source_files.extra`` holds."""

    fields: list[str] = []
    orders: list[list[str]] = []
    unknown: dict[str, Raw] = {}


def write_record(stored: StoredRecord) -> bytes:
    """Return one loaded record as its file has it: the JSON of a dialogue, or a whole file of image addresses."""
    return _record(stored, ElementWriter(_file_extra(stored).orders))


def _file(first: StoredRecord, records: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write one file: a list of images, or what its envelope and its dialogues say."""
    return iter((write_record(first),)) if first.record else _task_file(_file_extra(first), records)


write = file_by_file(_file)


def _record(stored: StoredRecord, elements: ElementWriter) -> bytes:
    task_file = _TASK_FILES.get(stored.loaded.subset or "")
    return write_dialogue(task_file, stored, elements) if task_file else write_images(stored)


_TASK_FILES = {task_file.subset: task_file for task_file in TASK_FILES.values()}


def _file_extra(stored: StoredRecord) -> _FileExtra:
    return msgspec.json.decode(stored.file.extra or "{}", type=_FileExtra)


def _task_file(extra: _FileExtra, records: Iterable[StoredRecord]) -> Iterator[bytes]:
    """Write the dialogues of a file, quarantined ones as they came, in the order of its fields.

    Records come in the order of their indexes, so that the splits alternate: the first split is written as it
    comes, the others wait in temporary files, for together they can be larger than memory.
    """
    unknown = {unescaped(pointer): value for pointer, value in extra.unknown.items()}
    streamed, *later = [name for name in extra.fields if name in SPLITS]
    with ExitStack() as stack:
        waiting = {name: stack.enter_context(TemporaryFile()) for name in later}
        for position, name in enumerate(extra.fields):
            yield (_BETWEEN if position else b"{") + msgspec.json.encode(name) + b": "
            if name == streamed:
                yield from _list(_streamed(streamed, waiting, records, ElementWriter(extra.orders)))
            elif name in waiting:
                yield from _list(_copied(waiting[name]))
            else:
                yield bytes(unknown[name])
    yield b"}"


def _streamed(
    streamed: str, waiting: Mapping[str, IO[bytes]], records: Iterable[StoredRecord], elements: ElementWriter
) -> Iterator[bytes]:
    """Write the dialogues of one split with what stands between them; put those of the others where they wait."""
    is_first = True
    for stored in records:
        split = stored.pointer.split("/")[1]
        piece = stored.raw if stored.raw is not None else _record(stored, elements)
        if split == streamed:
            yield piece if is_first else _BETWEEN + piece
            is_first = False
        else:
            stream = waiting[split]
            stream.write(_BETWEEN + piece if stream.tell() else piece)


def _copied(stream: IO[bytes]) -> Iterator[bytes]:
    stream.seek(0)
    while piece := stream.read(_COPIED):
        yield piece


def _list(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return chain((b"[",), pieces, (b"]",))
