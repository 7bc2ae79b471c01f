"""Rows back to the task files and the files of image addresses: equal in every value, keys in published order."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain, groupby
from tempfile import TemporaryFile
from typing import IO

import msgspec
from msgspec import Raw, Struct

from ingest.corpora.mpchat.files import FILES
from ingest.corpora.mpchat.format import SPLITS
from ingest.corpora.mpchat.images import KINDS
from ingest.corpora.mpchat.personas import Personas
from ingest.corpora.mpchat.write_dialogue import Talk, key
from ingest.stored_record import StoredRecord

_BETWEEN = b", "
_COPIED = 1 << 20
"""Bytes that are copied from a temporary file at once."""


class _Around(Struct):
    """What ``source_files.extra`` holds."""

    fields: list[str] = []
    orders: list[list[str]] = []
    unknown: dict[str, Raw] = {}


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Give every file in pieces, (path inside the corpus's folder, bytes); archives are folders of their members."""
    for _, group in groupby(records, key=lambda one: one.file.source_file_id):
        first = next(group)
        for piece in _file(first, group):
            yield first.path, piece


def write_record(published: StoredRecord) -> bytes:
    """Give one loaded record as its file has it: the JSON of a dialogue, or a whole file of image addresses."""
    return _record(published, Personas(_around(published).orders))


def _file(first: StoredRecord, rest: Iterable[StoredRecord]) -> Iterator[bytes]:
    """Write one file: a refused one as it came, a list of images, or what its frame and its dialogues say."""
    if first.raw is not None and not first.pointer:
        yield first.raw
        return
    if first.record is not None:
        yield write_record(first)
    else:
        yield from _talks(_around(first), rest)


def _record(published: StoredRecord, personas: Personas) -> bytes:
    subset = published.record.subset if published.record else None
    if subset in _IMAGES:
        return msgspec.json.encode({image.image_id: image.url for image in published.images})
    return Talk(_KINDS[subset or ""], published, personas).written()


_KINDS = {kind.subset: kind for kind in FILES.values()}
_IMAGES = {name.removesuffix(".json") for name in KINDS}


def _around(published: StoredRecord) -> _Around:
    return msgspec.json.decode(published.file.extra or "{}", type=_Around)


def _talks(around: _Around, records: Iterable[StoredRecord]) -> Iterator[bytes]:
    """Write the dialogues of a file, quarantined ones as they came, in the order of its fields.

    Records come by their place in their splits, so that the splits alternate: the first split is written as it
    comes, the others wait in temporary files, for together they can be larger than memory.
    """
    unknown = {key(place): value for place, value in around.unknown.items()}
    personas = Personas(around.orders)
    streamed, *later = [name for name in around.fields if name in SPLITS]
    with ExitStack() as stack:
        waiting = {name: stack.enter_context(TemporaryFile()) for name in later}
        for position, name in enumerate(around.fields):
            yield (_BETWEEN if position else b"{") + msgspec.json.encode(name) + b": "
            if name == streamed:
                yield from _list(_sorted_out(streamed, waiting, records, personas))
            elif name in waiting:
                yield from _list(_copied(waiting[name]))
            else:
                yield bytes(unknown[name])
    yield b"}"


def _sorted_out(
    streamed: str, waiting: Mapping[str, IO[bytes]], records: Iterable[StoredRecord], personas: Personas
) -> Iterator[bytes]:
    """Give the dialogues of one split with what stands between them; those of the others go to where they wait."""
    is_first = True
    for one in records:
        name = one.pointer.split("/")[1]
        piece = one.raw if one.raw is not None else _record(one, personas)
        if name == streamed:
            yield piece if is_first else _BETWEEN + piece
            is_first = False
        else:
            stream = waiting[name]
            stream.write(_BETWEEN + piece if stream.tell() else piece)


def _copied(stream: IO[bytes]) -> Iterator[bytes]:
    stream.seek(0)
    while piece := stream.read(_COPIED):
        yield piece


def _list(pieces: Iterable[bytes]) -> Iterator[bytes]:
    return chain((b"[",), pieces, (b"]",))
