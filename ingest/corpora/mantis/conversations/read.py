"""The plain and the intent file of a split: one object each, with a dialogue under every key."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.mantis.conversations.batch import Batch, Build, Member
from talkhouse.ingest.corpora.mantis.conversations.plain import plain_dialogues
from talkhouse.ingest.corpora.mantis.files import Role
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import FileEnvelope, Outcome, SourceLocation, reject
from talkhouse.ingest.sources import SourceFile

_TOGETHER = 8_000_000
"""Bytes of dialogues that are worked through at once, and whose rows are handed on together."""

_AHEAD = 2
"""Batches that are decoded while one is worked through."""


def read_dialogues(build: Build, file: SourceFile, role: Role, site: str = "") -> Iterator[Outcome]:
    """Read every dialogue of a file, then what the file is beside them.

    ``site``: what its keys begin with in the tables, where files of several sites have the same ones.
    """
    buffer = file.hold()
    try:
        pieces = _pieces(buffer.view)
    except BadRecord as bad:
        location = SourceLocation(file, subset=role.subset, split=role.split, size=file.size)
        yield reject(location, bad, bytes(buffer.view))
        return
    build.index.begin(role.split or "")
    bytes_read = 0
    for members, plain in _decoded(_members(file, pieces)):
        bytes_read += sum(len(member.raw) for member in members)
        buffer.release(bytes_read)
        yield from Batch(build, file, role, site).read(members, plain)
    yield FileEnvelope(file, {"orders": list(build.orders)}, len(pieces))


def _pieces(text: memoryview) -> list[tuple[str, Raw]]:
    """Split a file into keys and dialogues; BadRecord if it is not an object with whole numbers as keys."""
    if not _OBJECT.match(text):
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise decode.json_problem(bytes(text), error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    pieces = list(json_members.views(text, with_nan=True))
    for key, _ in pieces:
        try:
            int(key)
        except ValueError as error:
            raise BadRecord("MA-01", f"the key {key!r} is not a whole number", pointer(key)) from error
    return pieces


_OBJECT = re.compile(rb"[ \t\r\n]*\{")


def _members(file: SourceFile, pieces: list[tuple[str, Raw]]) -> Iterator[list[Member]]:
    """Copy dialogues out of a file, a batch at a time."""
    repeated = _repeated([key for key, _ in pieces])
    batch, size = list[Member](), 0
    for position, (key, raw) in enumerate(pieces):
        file.check_record(len(memoryview(raw)), pointer(key))
        batch.append(Member(position, key, bytes(raw), repeated.get(position)))
        size += len(batch[-1].raw)
        if size >= _TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _repeated(keys: list[str]) -> dict[int, str]:
    """Return the pointer of each dialogue whose key occurs more than once, numbered from the second on."""
    times, seen = Counter(keys), Counter[str]()
    pointers = {}
    for index, key in enumerate(keys):
        if times[key] > 1:
            pointers[index] = f"/{key}#{seen[key]}" if seen[key] else f"/{key}"
            seen[key] += 1
    return pointers


def _decoded(batches: Iterable[list[Member]]) -> Iterator[tuple[list[Member], pl.DataFrame]]:
    """Decode the plain dialogues of each batch, in a thread of its own while those before are worked through."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead: deque[tuple[list[Member], Future[pl.DataFrame]]] = deque()
        for batch in batches:
            ahead.append((batch, thread.submit(plain_dialogues, [member.raw for member in batch])))
            if len(ahead) > _AHEAD:
                members, future = ahead.popleft()
                yield members, future.result()
        for members, future in ahead:
            yield members, future.result()
