"""Blocks back to the lines of a TSV, and their keys to the lines of its lookup file, byte for byte."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from ingest.corpora.mantis.context_index import WINDOW
from ingest.corpora.mantis.files import Role
from ingest.corpora.mantis.ranking.format import row
from ingest.rows import Record
from ingest.stored_record import StoredRecord


class _FileExtra(Struct):
    lines: int = 0
    line_end: str = "\n"
    lacks_final_newline: bool = False

    @property
    def end(self) -> bytes:
        """What each line ends with."""
        return self.line_end.encode()


class _RecordExtra(Struct):
    line: int
    size: int
    own_texts: list[str] | None = None
    written: dict[int, str] = {}


class _LookupExtra(Struct):
    runs: list[tuple[str, int]]


class Rankings:
    """Writes TSVs as their blocks come, and keeps the keys of each block for the lookup file."""

    def __init__(self) -> None:
        self._keys: defaultdict[Role, list[tuple[int, bytes, int]]] = defaultdict(list)
        """First line, key (or lines as they came, with count 0), and number of lines."""

    def tsv(self, envelope: StoredRecord, blocks: Iterator[StoredRecord], role: Role) -> Iterator[tuple[str, bytes]]:
        """Write a TSV block by block; a rejected block as it came."""
        extra = msgspec.json.decode(envelope.file.extra or "{}", type=_FileExtra)
        yield envelope.path, b""
        left = extra.lines
        for block in blocks:
            text = block.raw
            if text is None:
                self._keep_key(block, role)
                text = _lines(block, extra.end)
            left -= text.count(b"\n")
            is_end = not left and block.raw is None and extra.lacks_final_newline
            yield block.path, text.removesuffix(extra.end) if is_end else text

    def lookup(
        self, envelope: StoredRecord, rejected: Iterable[StoredRecord], role: Role
    ) -> Iterator[tuple[str, bytes]]:
        """Write the keys of all lines; to be called when the TSV has been written."""
        extra = msgspec.json.decode(envelope.file.extra or "{}", type=_FileExtra)
        yield envelope.path, b""
        keys = self._keys[Role(role.subset.removesuffix("_lookup"), role.split)]
        keys += [(int(one.pointer[1:]), one.raw, 0) for one in rejected if one.raw is not None]
        keys.sort(key=lambda some: some[0])
        for number, (line, key, count) in enumerate(keys):
            text = (key + extra.end) * count if count else key
            is_end = number == len(keys) - 1 and line + count == extra.lines and extra.lacks_final_newline
            yield envelope.path, text.removesuffix(extra.end) if is_end and count else text

    def _keep_key(self, block: StoredRecord, role: Role) -> None:
        """Keep the key of a block and its number of rows."""
        record = block.record
        assert record is not None  # noqa: S101 - only quarantined ones have none
        extra = _extra(record)
        if record.native_id is not None:
            self._keys[role].append((extra.line, record.native_id.encode(), extra.size))


def lines(block: StoredRecord) -> bytes:
    """Write the lines of one block, with the line ends of its file."""
    return _lines(block, msgspec.json.decode(block.file.extra or "{}", type=_FileExtra).end)


def runs(stored: StoredRecord) -> bytes:
    """Write a lookup file that came without its TSV."""
    record = stored.record
    assert record is not None  # noqa: S101 - it is one record
    extra = msgspec.json.decode(stored.file.extra or "{}", type=_FileExtra)
    found = msgspec.json.decode(record.extra or "{}", type=_LookupExtra).runs
    text = b"".join((key.encode() + b"\n") * count for key, count in found)
    return text.removesuffix(extra.end) if extra.lacks_final_newline else text


def own_texts(record: Record) -> list[str]:
    """List the texts of a context that the block keeps by itself."""
    return _extra(record).own_texts or []


def _lines(block: StoredRecord, end: bytes) -> bytes:
    record = block.record
    assert record is not None  # noqa: S101 - only quarantined ones have none
    extra = _extra(record)
    written = {position: text.encode() + b"\n" for position, text in extra.written.items()}
    context = _context(block, extra)
    found = []
    for candidate in block.candidates:
        label = "1" if candidate.position == 0 else "0"
        text = block.texts[candidate.text_id or ""]
        found.append(written.get(candidate.position) or row([label, *context, text]).encode() + end)
    return b"".join(found)


def _context(block: StoredRecord, extra: _RecordExtra) -> list[str]:
    """Return the utterances before the response: the dialogue's own, or those that the block keeps by itself."""
    if extra.own_texts is not None:
        return [block.texts[text_id] for text_id in extra.own_texts]
    turn = block.candidates[0].turn_index or 0
    return [one.text for one in block.turns[max(0, turn - WINDOW) : turn]]


def _extra(record: Record) -> _RecordExtra:
    return msgspec.json.decode(record.extra or "{}", type=_RecordExtra)
