"""A block of a response-ranking TSV to its record and candidates; its context is proven to be the dialogue's turns."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import msgspec

from ingest.corpora.mantis.block import Parsed, misfit, parse
from ingest.corpora.mantis.layout import CORPUS, RANKING, SPLITS, Role
from ingest.corpora.mantis.proof import Context, Proof
from ingest.corpora.mantis.tsv import Lines, RawBlock, blocks
from ingest.decode import BadRecord
from ingest.outcomes import FileEnvelope, LoadedBatch, Outcome, ReaderFinding, Rejected, SourceLocation
from ingest.rows import Candidate, ColumnBatch, Record, Row
from ingest.sources import SourceFile
from ingest.texts import Texts

_TOGETHER = 50
"""Blocks whose rows are handed on together."""

_REFERRED = 8
"""How many times less than its lines the rows of a block are taken to hold: they refer to turns and texts."""

_MOST_KNOWN = 500_000
"""Cells that are known by their hash; beyond, all are forgotten."""

_PEEKED = 3
"""Blocks that are looked at to tell whether a whole file has blocks of another size than the published ones."""


class Ranking:
    """Reads the TSVs of one build; texts that occur again are stored once."""

    def __init__(self, proof: Proof) -> None:
        self.proof = proof
        self.texts = Texts(CORPUS)

    def pair(self, tsv: SourceFile, lookup: SourceFile | None, role: Role) -> Iterator[Outcome]:
        """Give every block of a TSV; ``lookup`` has the dialogue's key of each row."""
        yield from _Pair(self, tsv, lookup, role).read()


class _Pair:
    """One TSV and its lookup file on their way in."""

    def __init__(self, ranking: Ranking, tsv: SourceFile, lookup: SourceFile | None, role: Role) -> None:
        self._proof, self._texts = ranking.proof, ranking.texts
        self._tsv, self._lookup, self._role = tsv, lookup, role
        self._split = role.split or ""
        self._size = RANKING[role.subset] + 1
        self._lines, self._keys = Lines(tsv), Lines(lookup) if lookup else None
        self._examples = self._run = self._number = 0
        self._key: bytes | None = None
        self._known: dict[bytes, str] = {}
        """The keys of the texts in last cells, by the cells' hash: a wrong response comes about fifty times."""
        self._bare: dict[str, str] = {}
        """Wrong responses that are bare numbers, by their keys."""
        self._clear()

    def read(self) -> Iterator[Outcome]:
        """Give all outcomes of the two files, their frames last."""
        stream = blocks(self._lines, self._known)
        first = list(islice(stream, _PEEKED))
        yield from self._sized(first)
        keys = iter(self._keys or ())
        count = 0
        for block in chain(first, stream):
            yield from self._block(block, list(islice(keys, len(block))), count)
            count += 1
            if count % _TOGETHER == 0:
                yield from self._taken()
        yield from self._taken()
        yield FileEnvelope(self._tsv, self._lines.frame(), count)
        if self._lookup and self._keys:
            if surplus := list(keys):
                yield self._rejected_keys(surplus, self._keys.count - len(surplus), count)
            yield FileEnvelope(self._lookup, self._keys.frame())

    def _sized(self, first: list[RawBlock]) -> Iterator[ReaderFinding]:
        """Take the size of the first blocks for that of all where it is another than the published one."""
        sizes = {len(block) for block in first}
        if len(first) > 1 and len(sizes) == 1 and self._size not in sizes:
            told = f"blocks of {min(sizes)} rows; the published file has {self._size}: one right and the wrong ones"
            self._size = min(sizes)
            yield ReaderFinding("MA-06", told, self._tsv, "/0", severity="warn")

    def _block(self, block: RawBlock, keys: list[bytes], index: int) -> Iterator[Outcome]:
        """Give a block as its record, or what is refused of both files."""
        self._follow(block, keys)
        try:
            known = [self._known.get(mark) for mark in block.marks]
            parsed = parse(block, known, self._size, self._lines.carriage)
            key = self._checked_key(block, keys)
        except (BadRecord, UnicodeDecodeError) as bad:
            yield from self._rejected(block, keys, index, bad)
        else:
            self._take(block, key, index, parsed, known)
            self._examples += len(block)

    def _follow(self, block: RawBlock, keys: list[bytes]) -> None:
        """Keep count of the blocks that one dialogue has in succession."""
        key = keys[0] if keys else None
        if key != self._key or not block.line:
            self._key, self._run, self._number = key, block.line, -1
        self._number += 1

    def _checked_key(self, block: RawBlock, keys: list[bytes]) -> str | None:
        """Give the key of a block's dialogue; BadRecord where its rows have not one and the same, that is known."""
        if not self._keys:
            return None
        if len(keys) < len(block):
            raise misfit(f"the lookup file ends after {self._keys.count:,} lines", len(keys))
        if keys.count(keys[0]) < len(keys):
            raise misfit("rows of one context with different keys in the lookup file", 0)
        if not keys[0].endswith(self._keys.carriage):
            raise misfit("the line of the lookup file has another end than its first line", 0)
        key = keys[0].removesuffix(self._keys.carriage).decode()
        if self._proof.known(self._split) and self._proof.dialogue(self._split, key) is None:
            raise misfit(f"no dialogue {key[:50]!r} in {self._split}", 0)
        return key

    def _taken(self) -> Iterator[LoadedBatch]:
        """Give the blocks that were taken since the last time, if there are any."""
        if self._blocks:
            count = len(self._blocks)
            held = self._bytes // _REFERRED
            yield LoadedBatch(self._tsv, count, self._bytes, self._rows, self._blocks, self._notes, held)
        self._clear()

    def _clear(self) -> None:
        self._bytes = 0
        self._rows: list[Row] = []
        self._blocks: list[ColumnBatch] = []
        self._notes: list[ReaderFinding] = []

    def _take(self, block: RawBlock, key: str | None, index: int, parsed: Parsed, known: Sequence[str | None]) -> None:
        """Lay a block out in rows."""
        found = None
        if key is not None:
            found = self._proof.context(self._split, key, parsed.context, parsed.response, self._number)
        rows = self._rows
        text_ids = [self._texts.id_of_bytes(parsed.response.encode(), rows), *self._wrong(block, parsed, known)]
        extra: dict[str, object] = {"line": block.line, "example": self._examples, "size": len(block)}
        if key is not None:
            extra["run"] = self._run
        if found is None:
            extra["own_texts"] = self._texts.ids(parsed.context, rows)
        if parsed.written:
            extra["written"] = parsed.written
        place = self._place(block, key, index)
        record = self._record(place, self._proof.dialogue(self._split, key or "") if found else None, extra)
        rows.append(record)
        self._blocks.append(self._candidates(record, found, text_ids))
        self._bytes += place.size
        if doubts := [*self._doubts(found, key), *self._odd(text_ids)]:
            turn = found.turn_index if found else None
            note = ReaderFinding("MA-07", "; ".join(doubts), None, place.pointer, record.record_id, turn_index=turn)
            self._notes.append(note)

    def _wrong(self, block: RawBlock, parsed: Parsed, known: Sequence[str | None]) -> list[str]:
        """Give the keys of the wrong responses; those that are new are known from now on."""
        new = {position: self._texts.id_of_bytes(text, self._rows) for position, text in parsed.new.items()}
        self._bare |= {new[position]: text.decode() for position, text in parsed.new.items() if text.isdigit()}
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        if block.marks and not parsed.written:  # all of them are written as the csv module would
            self._known |= {block.marks[position - 1]: text_id for position, text_id in new.items()}
        text_ids = {position: text_id for position, text_id in enumerate(known, 1) if text_id} | new
        return [text_ids[position] for position in range(1, len(block))]

    def _odd(self, text_ids: list[str]) -> Iterator[str]:
        """Tell what a ranking should not have among its wrong responses."""
        right, *wrong = text_ids
        if right in wrong:
            yield f"wrong response {wrong.index(right) + 1} is the right one"
        if len(set(wrong)) < len(wrong):
            yield f"{len(wrong) - len(set(wrong))} wrong responses are repeated"
        bare = [self._bare[text_id] for text_id in wrong if text_id in self._bare] if self._bare else []
        if bare:
            yield f"{len(bare)} wrong responses are bare numbers, such as {bare[0]}"

    def _doubts(self, found: Context | None, key: str | None) -> Iterator[str]:
        """Tell in what a block is not what the dialogues would give."""
        if key is None or not self._proof.known(self._split):
            return
        if found is None:
            yield f"no context of dialogue {key} has these words; they are kept with the block"
        elif not found.is_response_equal:
            yield f"the right response is not the utterance {found.turn_index + 1} of dialogue {key}"
        elif found.number != self._number:
            yield f"context {found.number + 1} of dialogue {key} stands where context {self._number + 1} is due"

    def _record(self, place: SourceLocation, dialogue_id: str | None, extra: dict[str, object]) -> Record:
        return Record(
            record_id=f"{CORPUS}/{place.subset}/{place.split}/{place.record_index}",
            corpus_id=CORPUS,
            dialogue_id=dialogue_id,
            native_id=place.native_id,
            main_speaker_id=None,
            subset=place.subset,
            release=None,
            split=place.split,
            standard_split=SPLITS[self._split],
            record_index=place.record_index or 0,
            source_file_id=place.file.id,
            source_pointer=place.pointer,
            extra=msgspec.json.encode(extra).decode(),
        )

    def _candidates(self, record: Record, found: Context | None, text_ids: list[str]) -> ColumnBatch:
        shared = {
            "record_id": record.record_id,
            "turn_index": found.turn_index if found else None,
            "candidate_set": record.subset,
            "item_index": 0,
            "dialogue_id": record.dialogue_id,
        }
        count = len(text_ids)
        is_gold = [True] + [False] * (count - 1)
        return ColumnBatch(Candidate, shared, {"position": list(range(count)), "text_id": text_ids, "is_gold": is_gold})

    def _place(self, block: RawBlock, key: str | None, index: int) -> SourceLocation:
        role = self._role
        return SourceLocation(self._tsv, f"/{block.line}", role.subset, None, role.split, index, key, block.size)

    def _rejected(
        self, block: RawBlock, keys: list[bytes], index: int, bad: BadRecord | UnicodeDecodeError
    ) -> Iterator[Rejected]:
        """Refuse the rows of a block, and the lines of the lookup file that belong to them."""
        problem = bad if isinstance(bad, BadRecord) else BadRecord("TH-02", f"not UTF-8: {bad.reason}")
        raw = self._lines.joined(block.rows, is_last=block.is_last)
        detail = f"rows {block.line + 1:,} to {block.line + len(block):,}: {problem.detail}"
        yield Rejected(self._place(block, None, index), problem.rule, detail, raw)
        if keys:
            yield self._rejected_keys(keys, block.line, index)

    def _rejected_keys(self, keys: list[bytes], line: int, index: int) -> Rejected:
        """Refuse lines of the lookup file whose rows are refused or not there."""
        lines, file = self._keys, self._lookup
        assert lines is not None  # noqa: S101 - there are keys
        assert file is not None  # noqa: S101
        raw = lines.joined(keys, is_last=line + len(keys) == lines.count)
        place = SourceLocation(file, f"/{line}", f"{self._role.subset}_lookup", None, self._split, index)
        return Rejected(place, "MA-06", "the keys of rows that are refused or not there", raw)
