"""Records back to files, piece by piece: JSON lists and objects, lists of lines, the persona list."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice

import msgspec
from msgspec import Struct

from ingest import decode
from ingest.corpora.blended_skill_talk.lists import BETWEEN
from ingest.corpora.blended_skill_talk.write_record import write_record
from ingest.stored_record import StoredRecord


class Around(Struct):
    """What ``source_files.extra`` holds: what a file is beside its records."""

    shape: str = ""
    fields: list[str] = []
    head: str = ""
    tail: str = ""
    empty: list[int] = []
    lacks_final_newline: bool = False


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Give every file in pieces, (path inside the corpus's folder, bytes); archives are folders of their members."""
    for _, group in groupby(records, key=lambda published: published.file.source_file_id):
        first = next(group)
        for piece in _file(first, group):
            yield first.path, piece


def _file(first: StoredRecord, rest: Iterable[StoredRecord]) -> Iterator[bytes]:
    """Write a file: a refused one as it came, any other as its frame, which comes first, and its records say."""
    if first.raw is not None and not first.pointer:
        yield first.raw
        return
    around = decode.decoder(Around).decode(first.file.extra or "{}")
    pieces = (one.raw if one.raw is not None else write_record(one) for one in rest)
    yield from _SHAPES[around.shape](around, pieces)


def _list(_: Around, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write a JSON list."""
    yield from chain((b"[",), _between(b", ", pieces), (b"]",))


def _object(around: Around, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write a JSON object."""
    keys = (msgspec.json.encode(key) + b": " for key in around.fields)
    members = (key + piece for key, piece in zip(keys, pieces, strict=True))
    yield from chain((b"{",), _between(b", ", members), (b"}",))


def _personas(around: Around, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write the persona list, with the places where nothing stands between its marks."""
    filled = _with_empty(pieces, set(around.empty))
    yield from chain((around.head.encode(),), _between(BETWEEN.encode(), filled), (around.tail.encode(),))


def _with_empty(pieces: Iterator[bytes], empty: set[int]) -> Iterator[bytes]:
    position = 0
    for piece in chain(pieces, (None,)):
        while position in empty:
            yield b""
            position += 1
        if piece is not None:
            yield piece
            position += 1


def _lines(around: Around, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Write lines; a file without any has no line end either."""
    is_empty = True
    for piece in _between(b"\n", pieces):
        is_empty = False
        yield piece
    yield b"" if is_empty or around.lacks_final_newline else b"\n"


def _between(separator: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Put a separator between pieces, at the beginning of all but the first."""
    yield from islice(pieces, 1)
    yield from (separator + piece for piece in pieces)


_SHAPES: dict[str, Callable[[Around, Iterator[bytes]], Iterator[bytes]]] = {
    "list": _list,
    "object": _object,
    "value": lambda _, pieces: pieces,
    "personas": _personas,
    "lines": _lines,
}
