"""Blocks back to the lines of a TSV, and their keys to the lines of its lookup file, byte for byte."""

from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct
from msgspec.json import decode

from talkhouse.ingest.corpora.mantis.context_index import WINDOW
from talkhouse.ingest.corpora.mantis.files import RANKING, Role
from talkhouse.ingest.corpora.mantis.ranking.tsv import row
from talkhouse.ingest.rows import Record
from talkhouse.ingest.stored_record import StoredRecord


class _FileExtra(Struct):
    lines: int = 0
    line_end: str = "\n"
    lacks_final_newline: bool = False

    @property
    def end(self) -> bytes:
        """What each line ends with."""
        return self.line_end.encode()

    def as_last(self, text: bytes) -> bytes:
        """Return the last lines of the file as it has them."""
        return text.removesuffix(self.end) if self.lacks_final_newline else text


class _RecordExtra(Struct):
    line: int = 0
    size: int = 0
    own_texts: list[str] | None = None
    written: dict[int, str] = {}
    runs: list[tuple[str, int]] = []


class Rankings:
    """Writes TSVs as their blocks come, and keeps the keys of each block for the lookup file."""

    def __init__(self) -> None:
        self._keys: defaultdict[Role, list[tuple[int, bytes, int]]] = defaultdict(list)
        """First line, key (or lines as they came, with count 0), and number of lines."""
        self._lookups: list[tuple[Role, list[StoredRecord]]] = []

    def write(self, first: StoredRecord, following: Iterator[StoredRecord], role: Role) -> Iterator[bytes]:
        """Write a TSV block by block, a rejected block as it came; a lookup file is put off."""
        if role.subset not in RANKING:
            self._lookups.append((role, [first, *following]))
            return
        file = _file_extra(first)
        left = file.lines
        yield b""
        for block in following:
            if block.raw is not None:
                left -= block.raw.count(b"\n")
                yield block.raw
                continue
            self._keep_key(block, role)
            text = lines(block)
            left -= text.count(b"\n")
            yield text if left else file.as_last(text)

    def lookups(self) -> Iterator[tuple[str, bytes]]:
        """Write the lookup files (path, piece), when all TSVs have been written."""
        for role, (first, *following) in self._lookups:
            if following and following[0].record:
                yield first.path, runs(following[0])
                continue
            file = _file_extra(first)
            yield first.path, b""
            keys = self._keys[Role(role.subset.removesuffix("_lookup"), role.split)]
            keys += [(int(one.pointer[1:]), one.raw, 0) for one in following if one.raw is not None]
            for line, key, count in sorted(keys):
                text = (key + file.end) * count or key
                yield first.path, file.as_last(text) if count and line + count == file.lines else text

    def _keep_key(self, block: StoredRecord, role: Role) -> None:
        """Keep the key of a block and its number of rows."""
        extra = _extra(block.loaded)
        if block.loaded.native_id is not None:
            self._keys[role].append((extra.line, block.loaded.native_id.encode(), extra.size))


def lines(block: StoredRecord) -> bytes:
    """Write the lines of one block, with the line ends of its file."""
    extra, end = _extra(block.loaded), _file_extra(block).end
    written = {position: text.encode() + b"\n" for position, text in extra.written.items()}
    context = _context(block, extra)
    rows = []
    for candidate in block.candidates:
        label = "1" if candidate.position == 0 else "0"
        text = block.texts[candidate.text_id or ""]
        rows.append(written.get(candidate.position) or row([label, *context, text]).encode() + end)
    return b"".join(rows)


def runs(stored: StoredRecord) -> bytes:
    """Write a lookup file that came without its TSV."""
    found = _extra(stored.loaded).runs
    return _file_extra(stored).as_last(b"".join((key.encode() + b"\n") * count for key, count in found))


def own_texts(record: Record) -> list[str]:
    """List the texts of a context that the block keeps by itself."""
    return _extra(record).own_texts or []


def _context(block: StoredRecord, extra: _RecordExtra) -> list[str]:
    """Return the utterances before the response: the dialogue's own, or those that the block keeps by itself."""
    if extra.own_texts is not None:
        return [block.texts[text_id] for text_id in extra.own_texts]
    turn = block.candidates[0].turn_index or 0
    return [said.text for said in block.turns[max(0, turn - WINDOW) : turn]]


def _extra(record: Record) -> _RecordExtra:
    return decode(record.extra or "{}", type=_RecordExtra)


def _file_extra(stored: StoredRecord) -> _FileExtra:
    return decode(stored.file.extra or "{}", type=_FileExtra)
