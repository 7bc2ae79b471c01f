"""The plain and the intent file of a split: one object each, with a dialogue under every key."""

from collections import Counter, deque
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import polars as pl

from ingest.corpora.mantis.dialogues import Build, Dialogues, Member
from ingest.corpora.mantis.layout import Role
from ingest.corpora.mantis.parts import dialogues
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.usual import usual
from ingest.corpus import Frame, Outcome, Place, reject
from ingest.decode import BadRecord, pointer
from ingest.sources import SourceFile

_AHEAD = 2
"""Batches that are decoded while one is worked through."""


class Conversations:
    """Reads the JSON files of one build; keeps keys and hashes of what it has given out."""

    def __init__(self, proof: Proof, shared: Collection[str]) -> None:
        """Take the splits that have both a plain and an intent file."""
        self._build = Build(proof, shared)

    def file(self, file: SourceFile, role: Role) -> Iterator[Outcome]:
        """Give every dialogue of a file, then what the file is beside them."""
        try:
            keys, texts = dialogues(file)
            _check(keys)
        except BadRecord as bad:
            place = Place(file, subset=role.subset, split=role.split, size=file.size)
            yield reject(place, bad, file.read())
            return
        self._build.proof.begin(role.split or "")
        reader = Dialogues(file, role, self._build)
        for batch, decoded in _decoded(_batches(keys, texts)):
            yield from reader.batch(batch, decoded)
        yield Frame(file, {"orders": list(self._build.parser.orders)}, len(keys))


def _decoded(batches: Iterator[list[Member]]) -> Iterator[tuple[list[Member], pl.DataFrame]]:
    """Find the usual dialogues of each batch, in a thread of its own while those before are worked through."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead: deque[tuple[list[Member], Future[pl.DataFrame]]] = deque()
        for batch in batches:
            ahead.append((batch, thread.submit(usual, [member.raw for member in batch])))
            if len(ahead) > _AHEAD:
                members, future = ahead.popleft()
                yield members, future.result()
        for members, future in ahead:
            yield members, future.result()


def _batches(keys: list[str], texts: Iterator[list[bytes]]) -> Iterator[list[Member]]:
    """Name the dialogues by their keys."""
    repeated, done = _repeated(keys), 0
    for raws in texts:
        yield [Member(place, keys[place], raw, repeated.get(place)) for place, raw in enumerate(raws, done)]
        done += len(raws)


def _check(keys: list[str]) -> None:
    """Refuse a file with a key that is no whole number: BadRecord."""
    for key in keys:
        try:
            int(key)
        except ValueError as error:
            raise BadRecord("MA-01", f"the key {key!r} is no whole number", pointer(key)) from error


def _repeated(keys: list[str]) -> dict[int, str]:
    """Give the pointer of each dialogue whose key stands more than once: numbered, since quarantine has each once."""
    if len(set(keys)) == len(keys):
        return {}
    times, seen = Counter(keys), Counter[str]()
    found = {}
    for index, key in enumerate(keys):
        if times[key] > 1:
            found[index] = f"/{key}#{seen[key]}" if seen[key] else f"/{key}"
            seen[key] += 1
    return found
