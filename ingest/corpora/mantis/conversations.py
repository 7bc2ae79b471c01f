"""The plain and the intent file of a split: one object each, with a dialogue under every key."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice

import polars as pl

from ingest.corpora.mantis.dialogues import Build, Dialogues, Member
from ingest.corpora.mantis.form import PUBLISHED, Form, form_of
from ingest.corpora.mantis.layout import Role
from ingest.corpora.mantis.parts import is_json, parts, whole
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.usual import usual
from ingest.decode import BadRecord, pointer
from ingest.outcomes import FileEnvelope, Outcome, RereadRequested, SourceLocation, reject
from ingest.sources import SourceFile

_AHEAD = 2
"""Batches that are decoded while one is worked through."""

_TOGETHER = 2_000
"""Dialogues of a doubtful file that are worked through at once."""


class Conversations:
    """Reads the JSON files of one build; keeps keys and hashes of what it has given out."""

    def __init__(self, proof: Proof, shared: Collection[str]) -> None:
        """Take the splits that have both a plain and an intent file."""
        self._build = Build(proof, shared)

    def file(self, file: SourceFile, role: Role) -> Iterator[Outcome]:
        """Give every dialogue of a file, then what the file is beside them."""
        try:
            batches = _in_memory(file) if file.is_strict else _in_parts(file)
        except BadRecord as bad:
            place = SourceLocation(file, subset=role.subset, split=role.split, size=file.size)
            yield reject(place, bad, file.read())
            return
        self._build.proof.begin(role.split or "")
        first = next(batches, [])
        form = form_of(first[0].raw) if first else PUBLISHED
        reader, records = Dialogues(file, role, form, self._build), 0
        for members, found in _decoded(chain([first], batches), form, is_strict=file.is_strict):
            yield from reader.batch(members, found)
            records += len(members)
        yield FileEnvelope(file, {"orders": list(self._build.parser.orders)}, records)


def _decoded(
    batches: Iterable[list[Member]], form: Form, *, is_strict: bool
) -> Iterator[tuple[list[Member], pl.DataFrame]]:
    """Find the usual dialogues of each batch, in a thread of its own while those before are worked through."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead: deque[tuple[list[Member], Future[pl.DataFrame]]] = deque()
        for batch in batches:
            raws = [member.raw for member in batch]
            ahead.append((batch, thread.submit(usual if is_strict else _proven, raws, form)))
            if len(ahead) > _AHEAD:
                members, future = ahead.popleft()
                yield members, future.result()
        for members, future in ahead:
            yield members, future.result()


def _proven(raws: list[bytes], form: Form) -> pl.DataFrame:
    """Find the usual ones of dialogues, which are JSON for that; RereadRequested if another is none."""
    found = usual(raws, form)
    others = set(range(len(raws))).difference(found["place"].to_list())
    if not all(is_json(raws[place]) for place in others):
        raise RereadRequested
    return found


def _in_parts(file: SourceFile) -> Iterator[list[Member]]:
    """Give the dialogues of a file as long as nothing about it is in doubt: then RereadRequested."""
    done = 0
    for texts in parts(file):
        yield [Member(place, key, raw, None) for place, (key, raw) in enumerate(texts, done)]
        done += len(texts)


def _in_memory(file: SourceFile) -> Iterator[list[Member]]:
    """Give the dialogues of any file; BadRecord if it is no object with whole numbers as keys."""
    pieces = whole(file)
    wrong = next((key for key, _ in pieces if not _is_number(key)), None)
    if wrong is not None:
        raise BadRecord("MA-01", f"the key {wrong!r} is no whole number", pointer(wrong))
    repeated = _repeated([key for key, _ in pieces])
    members = (Member(place, key, bytes(raw), repeated.get(place)) for place, (key, raw) in enumerate(pieces))
    return iter(lambda: list(islice(members, _TOGETHER)), [])


def _is_number(key: str) -> bool:
    try:
        int(key)
    except ValueError:
        return False
    return True


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
