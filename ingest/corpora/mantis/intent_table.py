"""The table of intents, as the authors' code takes it: a record for each row; and intents as annotations."""

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct
from msgspec.json import decode

from talkhouse.ingest import outcomes
from talkhouse.ingest.corpora.mantis.format import CORPUS, INTENT, INTENTS_CSV, SPLITS
from talkhouse.ingest.corpora.mantis.ranking import ContextIndex
from talkhouse.ingest.decode import BadRecord, dump_extra
from talkhouse.ingest.rows import Annotation, Record
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord

FIRST = ["OQ"]
"""The intents of every first utterance, set by the authors' code."""


def annotations(record: Record, turn: int, intents: list[str]) -> Iterator[Annotation]:
    """Make a row for each intent of one utterance."""
    for index, intent in enumerate(intents):
        yield record.annotation(turn, INTENT, intent, item_index=index)


def spaces(intents: list[str]) -> Iterator[str]:
    """List which intents have spaces around them, if any."""
    wide = [repr(intent) for intent in intents if intent != intent.strip()]
    if wide:
        yield f"spaces around {', '.join(wide)}"


def not_first(intents: list[str]) -> Iterator[str]:
    """Report other intents of a first utterance than the authors' code sets."""
    if intents != FIRST:
        yield f"the first utterance has the intents {intents}, not {FIRST}"


HEADER = ["conversation_id", "comment_pos", "annotations", "allocation"]


class _Line(NamedTuple):
    """A row of the file: its cells (or why there are none), and its text with the blank lines before it."""

    cells: list[str]
    text: str
    problem: str = ""


def read_table(file: SourceFile, index: ContextIndex) -> Iterator[outcomes.Outcome]:
    """Read a table of intents; a .csv with another header is not one."""
    raw = file.read()
    try:
        lines = list(_lines(raw.decode()))
    except UnicodeDecodeError as bad:
        problem = BadRecord("TH-02", f"not UTF-8: byte {raw[bad.start]:#04x} at byte {bad.start:,}")
        yield outcomes.reject(outcomes.SourceLocation(file, subset=INTENTS_CSV, size=file.size), problem, raw)
        return
    if not lines or lines[0].cells != HEADER:
        yield outcomes.Unrecognised(file, f"a .csv without the header {','.join(HEADER)}")
        return
    header, *rows = lines
    tail = rows.pop().text if rows and not rows[-1].cells and not rows[-1].problem else ""
    newline = "\r\n" if header.text.endswith("\r\n") else "\n"
    table = _Table(file, newline, index)
    for number, row in enumerate(rows):
        yield table.record(number, row)
    envelope = {"header": header.text, "newline": newline, "tail": tail}
    yield outcomes.FileEnvelope(file, {name: value for name, value in envelope.items() if value}, len(rows))


def _lines(text: str) -> Iterator[_Line]:
    """Split a file into rows by the rule of csv; the last has no cells where only blank lines are left."""
    taken: list[str] = []

    def feed() -> Iterator[str]:
        for raw in io.StringIO(text, newline=""):
            taken.append(raw)
            yield raw

    rows = csv.reader(feed())
    while True:
        problem = ""
        try:
            cells = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            cells, problem = [], str(error)
        if cells or problem:
            yield _Line(cells, "".join(taken), problem)
            taken.clear()
    if taken:
        yield _Line([], "".join(taken))


class _LabelledUtterance(NamedTuple):
    """The utterance that a row labels."""

    dialogue_id: str | None
    """None where no dialogue of the split is there."""
    turn: int
    intents: list[str]


class _Table:
    """A table on its way in."""

    def __init__(self, file: SourceFile, newline: str, index: ContextIndex) -> None:
        self._file, self._newline, self._index = file, newline, index
        self._labelled = set[tuple[str, str, int]]()
        """Utterances that have a row: split, key and turn."""

    def record(self, number: int, row: _Line) -> outcomes.Loaded | outcomes.Rejected:
        """Turn one row into its record, or reject it."""
        self._file.check_record(len(row.text), f"/{number}")
        raw = row.text.encode()
        key, _, _, split = row.cells if len(row.cells) == len(HEADER) else [""] * len(HEADER)
        known_split = split if split in SPLITS else None
        location = outcomes.SourceLocation(
            self._file, f"/{number}", INTENTS_CSV, None, known_split, number, key or None, len(raw)
        )
        try:
            dialogue_id, turn, intents = self._checked(row)
        except BadRecord as bad:
            return outcomes.reject(location, bad, raw)
        record_id = f"{CORPUS}/{INTENTS_CSV}/{number}"
        record = location.record(record_id, dialogue_id, standard_split=SPLITS[split])
        if row.text != line(key, turn, intents, split, self._newline):
            record.extra = dump_extra({"raw": row.text})
        unusual = "; ".join(self._warnings(split, key, turn, intents))
        findings = [outcomes.ReaderFinding("MA-08", unusual, pointer="", severity="warn")] if unusual else []
        return outcomes.Loaded(location, [record, *annotations(record, turn, intents)], findings)

    def _checked(self, row: _Line) -> _LabelledUtterance:
        """Return the utterance that a row labels; BadRecord MA-08 where it names no utterance."""
        if row.problem or len(row.cells) != len(HEADER):
            raise BadRecord("MA-08", row.problem or f"{len(row.cells)} cells instead of {len(HEADER)}")
        key, position, intents, split = row.cells
        if split not in SPLITS:
            raise BadRecord("MA-08", f"the allocation {split!r} is none of {', '.join(SPLITS)}")
        try:
            number = int(position)
        except ValueError as error:
            raise BadRecord("MA-08", f"the comment_pos {position!r} is not a whole number") from error
        dialogue = self._index.find(split, key)
        if dialogue is None and self._index.known(split):
            raise BadRecord("MA-08", f"{split} has no dialogue {key!r}")
        if number < 1 or (dialogue and number > dialogue.size):
            size = dialogue.size if dialogue else "some"
            raise BadRecord("MA-08", f"comment_pos {number} of a dialogue of {size} utterances")
        return _LabelledUtterance(dialogue.dialogue_id if dialogue else None, number - 1, intents.split(","))

    def _warnings(self, split: str, key: str, turn: int, intents: list[str]) -> Iterator[str]:
        """MA-08, as warnings."""
        if (split, key, turn) in self._labelled:
            yield "an earlier row labels this utterance; the authors' code takes the last one"
        self._labelled.add((split, key, turn))
        if turn == 0:
            yield from not_first(intents)
        yield from spaces(intents)


class _IntentFileExtra(Struct):
    header: str = ""
    newline: str = "\n"
    tail: str = ""


class _IntentRowExtra(Struct):
    raw: str | None = None


def line(key: str, turn_index: int, intents: list[str], split: str, newline: str) -> str:
    """Write one row: quoted only where it has to be, like Python's csv."""
    text = io.StringIO()
    csv.writer(text, lineterminator=newline).writerow([key, turn_index + 1, ",".join(intents), split])
    return text.getvalue()


def write(first: StoredRecord, following: Iterator[StoredRecord]) -> Iterator[bytes]:
    """Write the table in pieces."""
    extra = _file_extra(first)
    yield extra.header.encode()
    for stored in following:
        yield stored.raw if stored.raw is not None else write_record(stored)
    yield extra.tail.encode()


def write_record(stored: StoredRecord) -> bytes:
    """Write one row with the line end of its file."""
    record = stored.loaded
    extra = decode(record.extra or "{}", type=_IntentRowExtra)
    if extra.raw is not None:
        return extra.raw.encode()
    turn = stored.annotations[0].turn_index or 0
    intents = [row.label or "" for row in stored.annotations]
    return line(record.native_id or "", turn, intents, record.split or "", _file_extra(stored).newline).encode()


def _file_extra(stored: StoredRecord) -> _IntentFileExtra:
    return decode(stored.file.extra or "{}", type=_IntentFileExtra)
