"""Response-ranking TSVs and their lookup files, block by block; contexts are found in the dialogues by their hashes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

import msgspec

from talkhouse.ingest.corpora.mantis.format import CORPUS, RANKING, SPLITS, Role
from talkhouse.ingest.corpora.mantis.tsv import Block, Lines, RawBlock, blocks, misfit, parse
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.keys import Texts, digest
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    Loaded,
    LoadedBatch,
    Outcome,
    ReaderFinding,
    Rejected,
    SourceLocation,
)
from talkhouse.ingest.rows import Candidate, ColumnBatch, Row
from talkhouse.ingest.sources import SourceFile

WINDOW = 11
"""Utterances in a context, at most (the authors' ``ResponseRankingDSCreator``)."""

USER = "user"
_WIDTH = 16
"""Bytes of a hash."""


class Context(NamedTuple):
    """The words before a response: where the response stands, and whether it is the published one."""

    dialogue_id: str
    turn_index: int
    number: int
    """0-based position among the contexts of its dialogue."""
    is_response_equal: bool
    is_window: bool
    """Whether its words are those that stand right before the response."""


class IndexedDialogue(NamedTuple):
    """What is remembered of a dialogue."""

    dialogue_id: str
    size: int
    fingerprints: bytes
    """The hashes of its utterances, one after the other; empty where no TSV needs them."""
    picked: tuple[Sequence[int], ...]
    """Where its words and its response stand, context by context."""

    def fingerprint(self, turn: int) -> bytes:
        """Return the hash of an utterance."""
        return self.fingerprints[turn * _WIDTH : (turn + 1) * _WIDTH]


class ContextIndex:
    """The dialogues of a build, by split and key."""

    def __init__(self, ranked: Collection[str] = (), *, is_labelled: bool = True) -> None:
        """``ranked``: splits that have a TSV, whose utterances are hashed; ``is_labelled``: labels follow."""
        self._ranked, self._is_labelled = ranked, is_labelled
        self._known: dict[str, dict[str, IndexedDialogue]] = {}

    def begin(self, split: str) -> None:
        """Record that a split has dialogues, whether or not they are remembered."""
        self._known.setdefault(split, {})

    def remembers(self, split: str) -> bool:
        """Whether other files of a split need what is said in its dialogues."""
        return split in self._ranked or self._is_labelled

    def add(self, split: str, key: str, dialogue_id: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Remember a dialogue; ``columns``: those of its utterances."""
        if not self.remembers(split):
            return
        texts, positions = columns["utterance"], columns["utterance_pos"]
        numbers = [number if type(number) is int else index for index, number in enumerate(positions, 1)]
        fingerprints = b"".join(map(digest, texts)) if split in self._ranked else b""
        picked = tuple(contexts(columns["actor_type"], numbers))
        self._known[split][key] = IndexedDialogue(dialogue_id, len(texts), fingerprints, picked)

    def known(self, split: str) -> bool:
        """Whether there are dialogues of a split."""
        return split in self._known

    def find(self, split: str, key: str) -> IndexedDialogue | None:
        """Find a dialogue, or None if there is none."""
        return self._known.get(split, {}).get(key)

    def context(self, split: str, key: str, words: Sequence[str], response: str, expected: int) -> Context | None:
        """Find a context with its response in its dialogue, first where it is expected, or None if it is not."""
        known = self.find(split, key)
        if known is None:
            return None
        fingerprints, answer = b"".join(map(digest, words)), digest(response)
        near = None
        for number in sorted(range(len(known.picked)), key=lambda number: number != expected):
            *before, turn = known.picked[number]
            if b"".join(map(known.fingerprint, before)) == fingerprints:
                is_equal = known.fingerprint(turn) == answer
                is_window = before == [*range(max(0, turn - WINDOW), turn)]
                found = Context(known.dialogue_id, turn, number, is_equal, is_window)
                near = near or found
                if is_equal:
                    return found
        return near


def contexts(roles: Sequence[str], numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield where the words of each context stand, and last its response, as the authors' code picks them.

    Each utterance of a user but the first gives one: those that bear its number, the ten below it and the one above it;
    the last of them is the response, of either role. At a user's utterance that bears the number of the last one the
    search ends. A context without words is none.
    """
    is_plain = all(number == index for index, number in enumerate(numbers, 1))
    users = [index for index, role in enumerate(roles) if role == USER]
    for index in users[1:]:
        number = numbers[index]
        if number == len(roles):
            break
        if is_plain:
            yield range(max(0, number - WINDOW), number + 1)
            continue
        picked = [at for at, other in enumerate(numbers) if max(1, number - WINDOW + 1) <= other <= number + 1]
        if len(picked) > 1:
            yield picked


_TOGETHER = 50
"""Blocks whose rows are handed on together."""

_RUN = 100
"""Bytes that a key and the number of its rows take in memory."""

_PEEKED = 3
"""Blocks that are looked at to tell whether a whole file has blocks of another size than the published ones."""


class RankingReader:
    """One TSV and its lookup file, which has the dialogue's key of each row; all files of a build share ``texts``."""

    def __init__(
        self, index: ContextIndex, texts: Texts, tsv: SourceFile, lookup: SourceFile | None, role: Role
    ) -> None:
        self._index, self._rows = index, _LookupRows(texts)
        self._tsv, self._role, self._split = tsv, role, role.split or ""
        self._size = RANKING[role.subset] + 1
        self._lines, self._keys = Lines(tsv), Lines(lookup) if lookup else None
        self._run = self._number = 0
        self._key: bytes | None = None

    def read(self) -> Iterator[Outcome]:
        """Read both files; their envelopes come last."""
        stream = blocks(self._lines, self._rows.known)
        first = list(islice(stream, _PEEKED))
        yield from self._sized(first)
        keys = iter(self._keys or ())
        count = 0
        for raw in chain(first, stream):
            yield from self._block(raw, list(islice(keys, len(raw))), count)
            count += 1
            if count % _TOGETHER == 0:
                yield from self._rows.taken(self._tsv)
        yield from self._rows.taken(self._tsv)
        yield FileEnvelope(self._tsv, self._lines.envelope(), count)
        if self._keys:
            if (surplus := next(keys, None)) is not None:
                yield self._surplus(self._keys, chain([surplus], keys), count)
            yield FileEnvelope(self._keys.file, self._keys.envelope())

    def _sized(self, first: list[RawBlock]) -> Iterator[ReaderFinding]:
        """Use the size of the first blocks for all of them where it differs from the published one."""
        sizes = {len(raw) for raw in first}
        if len(first) > 1 and len(sizes) == 1 and self._size not in sizes:
            detail = f"blocks of {min(sizes)} rows; the published file has {self._size}: one right and the wrong ones"
            self._size = min(sizes)
            yield ReaderFinding("MA-06", detail, self._tsv, "/0", severity="warn")

    def _block(self, raw: RawBlock, keys: list[bytes], index: int) -> Iterator[Rejected]:
        """Add a block to the rows, or yield what is rejected of both files."""
        self._follow(raw, keys)
        try:
            block = parse(raw, self._size, self._lines.carriage)
            key = self._checked_key(raw, keys)
        except (BadRecord, UnicodeDecodeError) as bad:
            yield from self._rejected(raw, keys, index, bad)
            return
        context = run = None
        if key is not None:
            context = self._index.context(self._split, key, block.context, block.response, self._number)
            run = self._run
        self._rows.add(self._location(raw, key, index), block, context, run, self._doubts(context, key))

    def _follow(self, raw: RawBlock, keys: list[bytes]) -> None:
        """Keep count of the blocks that one dialogue has in succession."""
        key = keys[0] if keys else None
        if key != self._key or not raw.line:
            self._key, self._run, self._number = key, raw.line, -1
        self._number += 1

    def _checked_key(self, raw: RawBlock, keys: list[bytes]) -> str | None:
        """Return the key of a block's dialogue; BadRecord where its rows have not one and the same, that is known."""
        if not self._keys:
            return None
        if len(keys) < len(raw):
            raise misfit(f"the lookup file ends after {self._keys.count:,} lines", 0)
        if keys.count(keys[0]) < len(keys):
            raise misfit("rows of one context with different keys in the lookup file", 0)
        if not keys[0].endswith(self._keys.carriage):
            raise misfit("the line of the lookup file has another end than its first line", 0)
        key = keys[0].removesuffix(self._keys.carriage).decode()
        if self._index.known(self._split) and self._index.find(self._split, key) is None:
            raise misfit(f"no dialogue {key[:50]!r} in {self._split}", 0)
        return key

    def _doubts(self, context: Context | None, key: str | None) -> Iterator[str]:
        """List how a block differs from what the dialogues would give."""
        if key is None or not self._index.known(self._split):
            return
        if context is None:
            yield f"no context of dialogue {key} has these words; they are kept with the block"
        elif not context.is_response_equal:
            yield f"the right response is not the utterance {context.turn_index + 1} of dialogue {key}"
        elif context.number != self._number:
            yield f"context {context.number + 1} of dialogue {key} stands where context {self._number + 1} is due"

    def _location(self, raw: RawBlock, key: str | None, index: int) -> SourceLocation:
        return SourceLocation(self._tsv, f"/{raw.line}", self._role.subset, None, self._split, index, key, raw.size)

    def _rejected(
        self, raw: RawBlock, keys: list[bytes], index: int, bad: BadRecord | UnicodeDecodeError
    ) -> Iterator[Rejected]:
        """Reject the rows of a block, and the lines of the lookup file that belong to them."""
        problem = bad if isinstance(bad, BadRecord) else BadRecord("TH-02", f"not UTF-8: {bad.reason}")
        rows = self._lines.joined(raw.rows, is_last=raw.is_last)
        detail = f"rows {raw.line + 1:,} to {raw.line + len(raw):,}: {problem.detail}"
        if position := int(problem.pointer.removeprefix("/") or 0):
            detail += f", in row {raw.line + position + 1:,}"
        if place := raw.open_quote():
            detail += f"; the quote that opens at {place} is not closed"
        yield Rejected(self._location(raw, None, index), problem.rule, detail, rows)
        if self._keys and keys:
            text = self._keys.joined(keys, is_last=raw.line + len(keys) == self._keys.count)
            yield self._unused_keys(self._keys, text, raw.line, index)

    def _surplus(self, lines: Lines, keys: Iterator[bytes], index: int) -> Rejected:
        """Reject the lines of the lookup file that are left at the end: one record, as large as one may be."""
        raw, count = bytearray(), 0
        for key in keys:
            raw += key + b"\n"
            count += 1
            lines.file.check_record(len(raw))
        text = lines.joined([bytes(raw[:-1])], is_last=True)
        return self._unused_keys(lines, text, lines.count - count, index)

    def _unused_keys(self, lines: Lines, raw: bytes, line: int, index: int) -> Rejected:
        location = SourceLocation(lines.file, f"/{line}", f"{self._role.subset}_lookup", None, self._split, index)
        return Rejected(location, "MA-06", "the keys of rows that are rejected or not there", raw)


def lone_lookup(file: SourceFile, role: Role) -> Iterator[Outcome]:
    """Read the keys of a lookup file without its TSV: each key with the number of its rows, run by run."""
    lines, (subset, split) = Lines(file), role
    location = SourceLocation(file, "", subset, None, split, 0, size=file.size)
    runs, held = list[list[object]](), 0
    try:
        for key, group in groupby(lines):
            runs.append([key.decode(), sum(1 for _ in group)])
            held += len(key) + _RUN
            file.check_record(held)
    except UnicodeDecodeError as bad:
        yield Rejected(location, "TH-02", f"not UTF-8: {bad.reason} at byte {bad.start} of a line", file.read())
        return
    record_id, standard_split = f"{CORPUS}/{subset}/{split}", SPLITS[split or ""]
    record = location.record(record_id, standard_split=standard_split, extra={"runs": runs})
    yield Loaded(location, [record])
    yield FileEnvelope(file, lines.envelope(), 1)


_REFERRED = 8
"""How many times less than its lines the rows of a block are taken to hold: they refer to turns and texts."""

_MOST_KNOWN = 500_000
_MOST_KNOWN_BYTES = 100_000_000
"""Cells that are known, and their bytes; beyond either, all are forgotten."""


class _LookupRows:
    """The rows of one TSV's blocks; a wrong response comes about fifty times, so cells are known from the first on."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self.known: dict[bytes, str] = {}
        """The keys of the texts in last cells, by the cells as the file has them."""
        self._known_bytes = 0
        self._numeric: dict[str, str] = {}
        """Wrong responses that are bare numbers, by their keys."""
        self._examples = 0
        self._clear()

    def _clear(self) -> None:
        self._bytes = 0
        self._rows: list[Row] = []
        self._batches: list[ColumnBatch] = []
        self._findings: list[ReaderFinding] = []

    def add(
        self, location: SourceLocation, block: Block, context: Context | None, run: int | None, doubts: Iterable[str]
    ) -> None:
        """Add a block: ``context`` is what it is of its dialogue, ``run`` the row with which those of its key begin."""
        text_ids = [self._texts.id_of_bytes(block.response.encode(), self._rows), *self._wrong(block)]
        extra: dict[str, object] = {"line": block.raw.line, "example": self._examples, "size": len(text_ids)}
        if run is not None:
            extra["run"] = run
        if context is None or not context.is_window:
            extra["own_texts"] = self._texts.ids(block.context, self._rows)
        if block.written:
            extra["written"] = block.written
        record_id = f"{CORPUS}/{location.subset}/{location.split}/{location.record_index}"
        dialogue_id, turn = (context.dialogue_id, context.turn_index) if context else (None, None)
        record = location.record(record_id, dialogue_id, standard_split=SPLITS[location.split or ""])
        record.extra = msgspec.json.encode(extra).decode()
        self._rows.append(record)
        shared = {"record_id": record_id, "turn_index": turn, "candidate_set": record.subset, "item_index": 0}
        is_gold = [True] + [False] * (len(text_ids) - 1)
        columns = {"position": list(range(len(text_ids))), "text_id": text_ids, "is_gold": is_gold}
        self._batches.append(ColumnBatch(Candidate, shared | {"dialogue_id": dialogue_id}, columns))
        self._bytes += location.size
        self._examples += len(text_ids)
        if unusual := [*doubts, *self._warnings(text_ids)]:
            finding = ReaderFinding("MA-07", "; ".join(unusual), turn_index=turn)
            self._findings.append(location.finding(finding, record_id))

    def taken(self, file: SourceFile) -> Iterator[LoadedBatch]:
        """Yield the blocks that were added since the last time, if there are any."""
        if count := len(self._batches):
            held = self._bytes // _REFERRED
            yield LoadedBatch(file, count, self._bytes, self._rows, self._batches, self._findings, held)
        self._clear()

    def _wrong(self, block: Block) -> list[str]:
        """Return the keys of the wrong responses."""
        new = {at: self._new(text) for at, text in block.new.items()}
        if block.raw.begin and not block.written:  # all of them are written as the csv module would
            self._learn({block.raw.tails[at - 1]: key for at, key in new.items()})
        return [key or new[at] for at, key in enumerate(block.keys, 1)]

    def _new(self, text: bytes) -> str:
        """Return the key of a wrong response that is not known."""
        text_id = self._texts.id_of_bytes(text, self._rows)
        if text.isdigit():
            self._numeric[text_id] = text.decode()
        return text_id

    def _learn(self, cells: dict[bytes, str]) -> None:
        """Know cells from now on."""
        if len(self.known) > _MOST_KNOWN or self._known_bytes > _MOST_KNOWN_BYTES:
            self.known.clear()
            self._known_bytes = 0
        self.known |= cells
        self._known_bytes += sum(map(len, cells))

    def _warnings(self, text_ids: list[str]) -> Iterator[str]:
        """List what a ranking should not have among its wrong responses."""
        right, *wrong = text_ids
        if right in wrong:
            yield f"wrong response {wrong.index(right) + 1} is the right one"
        if len(set(wrong)) < len(wrong):
            yield f"{len(wrong) - len(set(wrong))} wrong responses are repeated"
        numeric = [self._numeric[text_id] for text_id in wrong if text_id in self._numeric] if self._numeric else []
        if numeric:
            yield f"{len(numeric)} wrong responses are bare numbers, such as {numeric[0]}"
