"""The plain and the intent file of a split: one object each, with a dialogue under every key."""

from collections import Counter, deque
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
from msgspec import Raw

from ingest import decode, split
from ingest.corpora.mantis.dialogues import Build, Dialogues, Member
from ingest.corpora.mantis.layout import Role
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.stand_in import StandIn
from ingest.corpora.mantis.usual import Usual, usual
from ingest.corpus import Frame, Outcome, Place, reject
from ingest.decode import BadRecord, pointer
from ingest.held import Held
from ingest.sources import BOM, SourceFile

_TOGETHER = 8_000_000
"""Bytes of dialogues that are worked through at once, and whose rows are handed on together."""

_LEAST, _GROWTH = 400_000, 28
"""Fewer at first, while the whole file is in memory: so many, and a part of what is done."""

_AHEAD = 2
"""Batches that are decoded while one is worked through."""


class Conversations:
    """Reads the JSON files of one build; keeps keys and hashes of what it has given out."""

    def __init__(self, proof: Proof, shared: Collection[str]) -> None:
        """Take the splits that have both a plain and an intent file."""
        self._build = Build(proof, shared)

    def file(self, file: SourceFile, role: Role) -> Iterator[Outcome]:
        """Give every dialogue of a file, then what the file is beside them."""
        held = file.hold()
        stand_in = StandIn(held)
        text = held.view[len(BOM) :] if file.has_bom else held.view
        try:
            pieces = _split(text)
        except BadRecord as bad:
            place = Place(file, subset=role.subset, split=role.split, size=file.size)
            yield reject(place, bad, stand_in.restored(bytes(text)))
            return
        self._build.proof.begin(role.split or "")
        dialogues = Dialogues(file, role, self._build, stand_in)
        for members, decoded in _decoded(_batches(pieces, held)):
            yield from dialogues.batch(members, decoded)
        yield Frame(file, {"orders": list(self._build.parser.orders)}, len(pieces))


def _decoded(batches: Iterator[list[Member]]) -> Iterator[tuple[list[Member], Usual]]:
    """Decode the usual dialogues of each batch, in a thread of its own while those before are worked through."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead: deque[tuple[list[Member], Future[Usual]]] = deque()
        for batch in batches:
            ahead.append((batch, thread.submit(usual, [member.raw for member in batch])))
            if len(ahead) > _AHEAD:
                members, future = ahead.popleft()
                yield members, future.result()
        for members, future in ahead:
            yield members, future.result()


def _batches(pieces: list[tuple[str, Raw]], held: Held) -> Iterator[list[Member]]:
    """Copy the dialogues, some megabytes at a time, and give back the memory that they were in."""
    repeated, done, size = _repeated(pieces), 0, 0
    batch: list[Member] = []
    for index, (key, piece) in enumerate(pieces):
        batch.append(Member(index, key, bytes(piece), repeated.get(index)))
        size += len(batch[-1].raw)
        if size >= min(_TOGETHER, _LEAST + done // _GROWTH):
            done += size
            held.release(done)
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _split(text: memoryview) -> list[tuple[str, Raw]]:
    """Split a file into its dialogues, without a copy; BadRecord if it is no object with whole numbers as keys."""
    if bytes(text[:1_000]).lstrip()[:1] != b"{":
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(bytes(text), error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    pieces = list(split.views(text))
    for key, _ in pieces:
        try:
            int(key)
        except ValueError as error:
            raise BadRecord("MA-01", f"the key {key!r} is no whole number", pointer(key)) from error
    return pieces


def _repeated(pieces: list[tuple[str, Raw]]) -> dict[int, str]:
    """Give the pointer of each dialogue whose key stands more than once: numbered, since quarantine has each once."""
    if len(dict(pieces)) == len(pieces):
        return {}
    times, seen = Counter(key for key, _ in pieces), Counter[str]()
    found = {}
    for index, (key, _) in enumerate(pieces):
        if times[key] > 1:
            found[index] = f"/{key}#{seen[key]}" if seen[key] else f"/{key}"
            seen[key] += 1
    return found
