"""The table of intents, as the authors' code takes it: a record for each row."""

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from ingest.corpora.mantis.intents import FIRST, annotations, blanks
from ingest.corpora.mantis.layout import CORPUS, INTENTS_CSV, SPLITS
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.rendering import HEADER, line
from ingest.decode import BadRecord, dump
from ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, Rejected, SourceLocation, Unrecognised, reject
from ingest.rows import Record, Row
from ingest.sources import SourceFile


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


def read_csv(file: SourceFile, proof: Proof) -> Iterator[Outcome]:
    """Read a table of intents; a .csv with another header is none of ours."""
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
    seen: set[tuple[str, str, int]] = set()
    for index, row in enumerate(rows):
        yield _record(file, index, row, newline, proof, seen)
    frame = {"header": header.text, "newline": newline, "tail": tail}
    yield FileEnvelope(file, {name: value for name, value in frame.items() if value}, len(rows))


def _lines(text: str) -> Iterator[_Line]:
    """Split a file into rows by the rule of csv; the last has no cells where only blank lines are left."""
    taken: list[str] = []

    def feed() -> Iterator[str]:
        for one in io.StringIO(text, newline=""):
            taken.append(one)
            yield one

    rows, problem = csv.reader(feed()), ""
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            cells, problem = [], str(error)
        if cells or problem:
            yield _Line(cells, "".join(taken), problem)
            taken.clear()
            problem = ""
    if taken:
        yield _Line([], "".join(taken))


def _record(
    file: SourceFile, index: int, row: _Line, newline: str, proof: Proof, seen: set[tuple[str, str, int]]
) -> Loaded | Rejected:
    """Turn one row into its record, or say why it can't be one."""
    raw = row.text.encode()
    named = row.cells if len(row.cells) == len(HEADER) else ["", "", "", ""]
    split = named[3] if named[3] in SPLITS else None
    place = SourceLocation(file, f"/{index}", INTENTS_CSV, None, split, index, named[0] or None, len(raw))
    try:
        said = _checked(row, proof)
    except BadRecord as bad:
        return reject(place, bad, raw)
    record_id = f"{CORPUS}/{INTENTS_CSV}/{index}"
    dialogue_id = proof.dialogue(said.split, said.conversation)
    usual = line(said.conversation, said.turn_index, said.intents, said.split, newline)
    record = Record(
        record_id=record_id,
        corpus_id=CORPUS,
        dialogue_id=dialogue_id,
        native_id=said.conversation,
        main_speaker_id=None,
        subset=INTENTS_CSV,
        release=None,
        split=said.split,
        standard_split=SPLITS[said.split],
        record_index=index,
        source_file_id=file.id,
        source_pointer=place.pointer,
        extra=dump({"raw": row.text} if usual != row.text else {}),
    )
    rows: list[Row] = [record, *annotations(said.intents, record_id, dialogue_id, said.turn_index)]
    odd = list(_oddities(said, seen))
    notes = [ReaderFinding("MA-08", "; ".join(odd), pointer="", severity="warn")] if odd else []
    return Loaded(place, rows, notes)


def _checked(row: _Line, proof: Proof) -> _Row:
    """Read a row; raises BadRecord MA-08 where it names no utterance."""
    if row.problem or len(row.cells) != len(HEADER):
        raise BadRecord("MA-08", row.problem or f"{len(row.cells)} cells instead of {len(HEADER)}")
    conversation, position, intents, split = row.cells
    if split not in SPLITS:
        raise BadRecord("MA-08", f"the allocation {split!r} is none of {', '.join(SPLITS)}")
    try:
        number = int(position)
    except ValueError as error:
        raise BadRecord("MA-08", f"the comment_pos {position!r} is no whole number") from error
    size = proof.size(split, conversation)
    if size is None and proof.known(split):
        raise BadRecord("MA-08", f"{split} has no conversation {conversation!r}")
    if number < 1 or (size is not None and number > size):
        raise BadRecord("MA-08", f"comment_pos {number} of a conversation of {size or 'some'} utterances")
    return _Row(conversation, number - 1, intents.split(","), split)


def _oddities(said: _Row, seen: set[tuple[str, str, int]]) -> Iterator[str]:
    """MA-08, as warnings."""
    place = said.split, said.conversation, said.turn_index
    if place in seen:
        yield "an earlier row labels this utterance; the authors' code takes the last one"
    seen.add(place)
    if said.turn_index == 0 and said.intents != FIRST:
        yield f"the first utterance has the intents {said.intents}, not {FIRST}"
    if wide := blanks(said.intents):
        yield wide
