"""The table of intents, as the authors' code takes it: a record for each row."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.corpora.mantis.context_index import ContextIndex
from ingest.corpora.mantis.files import CORPUS, INTENTS_CSV, SPLITS
from ingest.corpora.mantis.intent_table.write import line
from ingest.corpora.mantis.intents import annotations, not_first, spaces
from ingest.decode import BadRecord
from ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, Rejected, SourceLocation, Unrecognised, reject
from ingest.sources import SourceFile

HEADER = ["conversation_id", "comment_pos", "annotations", "allocation"]


class _Line(NamedTuple):
    """A row of the file: its cells (or why there are none), and its text with the blank lines before it."""

    cells: list[str]
    text: str
    problem: str = ""


class _Row(NamedTuple):
    """What a row says."""

    conversation: str
    turn_index: int
    intents: list[str]
    split: str


def read_table(file: SourceFile, index: ContextIndex) -> Iterator[Outcome]:
    """Read a table of intents; a .csv with another header is not one."""
    raw = file.read()
    try:
        lines = list(_lines(raw.decode()))
    except UnicodeDecodeError as bad:
        problem = BadRecord("TH-02", f"not UTF-8: byte {raw[bad.start]:#04x} at byte {bad.start:,}")
        yield reject(SourceLocation(file, subset=INTENTS_CSV, size=file.size), problem, raw)
        return
    if not lines or lines[0].cells != HEADER:
        yield Unrecognised(file, f"a .csv without the header {','.join(HEADER)}")
        return
    header, *rows = lines
    tail = rows.pop().text if rows and not rows[-1].cells and not rows[-1].problem else ""
    newline = "\r\n" if header.text.endswith("\r\n") else "\n"
    table = _Table(file, newline, index)
    for number, row in enumerate(rows):
        yield table.record(number, row)
    envelope = {"header": header.text, "newline": newline, "tail": tail}
    yield FileEnvelope(file, {name: value for name, value in envelope.items() if value}, len(rows))


def _lines(text: str) -> Iterator[_Line]:
    """Split a file into rows by the rule of csv; the last has no cells where only blank lines are left."""
    taken: list[str] = []

    def feed() -> Iterator[str]:
        for one in io.StringIO(text, newline=""):
            taken.append(one)
            yield one

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


@dataclass
class _Table:
    """A table on its way in."""

    file: SourceFile
    newline: str
    index: ContextIndex
    seen: set[tuple[str, str, int]] = field(default_factory=set)
    """Utterances that have a row: split, conversation and turn."""

    def record(self, number: int, row: _Line) -> Loaded | Rejected:
        """Turn one row into its record, or say why it can't be one."""
        raw = row.text.encode()
        named = row.cells if len(row.cells) == len(HEADER) else ["", "", "", ""]
        split = named[3] if named[3] in SPLITS else None
        location = SourceLocation(self.file, f"/{number}", INTENTS_CSV, None, split, number, named[0] or None, len(raw))
        try:
            said = self._checked(row)
        except BadRecord as bad:
            return reject(location, bad, raw)
        record_id = f"{CORPUS}/{INTENTS_CSV}/{number}"
        dialogue = self.index.find(said.split, said.conversation)
        dialogue_id = dialogue.dialogue_id if dialogue else None
        is_plain = row.text == line(said.conversation, said.turn_index, said.intents, said.split, self.newline)
        extra = {} if is_plain else {"raw": row.text}
        record = location.record(record_id, dialogue_id, standard_split=SPLITS[said.split], extra=extra)
        odd = "; ".join(self._warnings(said))
        findings = [ReaderFinding("MA-08", odd, pointer="", severity="warn")] if odd else []
        rows = annotations(said.intents, record_id, dialogue_id, said.turn_index)
        return Loaded(location, [record, *rows], findings)

    def _checked(self, row: _Line) -> _Row:
        """Read a row; raises BadRecord MA-08 where it names no utterance."""
        if row.problem or len(row.cells) != len(HEADER):
            raise BadRecord("MA-08", row.problem or f"{len(row.cells)} cells instead of {len(HEADER)}")
        conversation, position, intents, split = row.cells
        if split not in SPLITS:
            raise BadRecord("MA-08", f"the allocation {split!r} is none of {', '.join(SPLITS)}")
        try:
            number = int(position)
        except ValueError as error:
            raise BadRecord("MA-08", f"the comment_pos {position!r} is not a whole number") from error
        dialogue = self.index.find(split, conversation)
        if dialogue is None and self.index.known(split):
            raise BadRecord("MA-08", f"{split} has no conversation {conversation!r}")
        if number < 1 or (dialogue and number > dialogue.size):
            size = dialogue.size if dialogue else "some"
            raise BadRecord("MA-08", f"comment_pos {number} of a conversation of {size} utterances")
        return _Row(conversation, number - 1, intents.split(","), split)

    def _warnings(self, said: _Row) -> Iterator[str]:
        """MA-08, as warnings."""
        utterance = said.split, said.conversation, said.turn_index
        if utterance in self.seen:
            yield "an earlier row labels this utterance; the authors' code takes the last one"
        self.seen.add(utterance)
        if said.turn_index == 0:
            yield from not_first(said.intents)
        yield from spaces(said.intents)
