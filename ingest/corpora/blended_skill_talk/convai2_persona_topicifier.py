"""ConvAI2 in the format that ParlAI publishes: numbered lines, with tabs between text, label, reward, candidates."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.records import (
    UniqueTexts,
    extra_of,
    lines_of,
    read_lines,
    record_at,
    texts_at,
)
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation
from talkhouse.ingest.stored_record import StoredRecord

_LABELS = "convai2_label"
"""The candidate set."""


class _Line(NamedTuple):
    """A line: its number, and its cells without outer blanks."""

    number: int
    cells: list[str]


class _Entry(NamedTuple):
    """One example: everything since the one before, the labels, and the candidates."""

    text: str
    labels: list[str]
    candidates: list[str]


class _KeptEntry(Struct):
    text: str
    labels: list[str]


class _Extra(Struct):
    """What ``records.extra`` holds; the lines where the entries would be written otherwise."""

    entries: list[_KeptEntry] = []
    lines: list[str] | None = None


def read_convai2(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read the episodes of a file; a number that does not rise begins the next."""
    text = decode.text(raw)
    episodes = ["\n".join(lines) for lines in _episodes(lines_of(text))]
    yield from read_lines(input_file, text, episodes, partial(_episode, input_file, texts))


def _episode(input_file: InputFile, texts: UniqueTexts, location: SourceLocation, raw: bytes) -> Loaded:
    lines = raw.decode().split("\n")
    entries = list(_entries(lines))
    kept = [{"text": entry.text, "labels": entry.labels} for entry in entries]
    is_plain = _published_lines(entries) == lines
    record = record_at(location, input_file, {"entries": kept, "lines": None if is_plain else lines})
    lists = [(number, entry.candidates) for number, entry in enumerate(entries)]
    rows, column_batches = texts.candidates(record, _LABELS, lists)
    return Loaded(location, [record, *rows], column_batches=column_batches)


def write_convai2(stored: StoredRecord) -> bytes:
    """Write the numbered lines of an episode."""
    extra = extra_of(stored, _Extra)
    entries = [_Entry(kept.text, kept.labels, texts_at(stored, number)) for number, kept in enumerate(extra.entries)]
    return "\n".join(_published_lines(entries) if extra.lines is None else extra.lines).encode()


def _published_lines(entries: list[_Entry]) -> list[str]:
    """Write entries as the publisher does: numbered lines, what is said before the utterance on lines of its own."""
    lines: list[str] = []
    for entry in entries:
        *before, utterance = entry.text.split("\n")
        lines += (f"{len(lines) + number} {line}" for number, line in enumerate(before, 1))
        candidates = "\t\t" + "|".join(entry.candidates) if entry.candidates else ""
        lines.append(f"{len(lines) + 1} {utterance}\t{'|'.join(entry.labels)}{candidates}")
    return lines


def _episodes(lines: list[str]) -> Iterator[list[str]]:
    """Split lines into episodes; a line that can't be read stays where it is, to be rejected with its episode."""
    episode: list[str] = []
    last: int | None = None
    for line in lines:
        try:
            parsed = _line(line)
        except BadRecord:
            parsed = None
        if parsed is not None:
            if last is not None and parsed.number <= last:
                yield episode
                episode = []
            last = parsed.number
        episode.append(line)
    if episode:
        yield episode


def _line(text: str) -> _Line | None:
    """Read a line as ParlAI does; None where it is blank, BadRecord where it has no number."""
    line = text.strip().replace("\\n", "\n")
    if not line:
        return None
    number, blank, rest = line.partition(" ")
    try:
        # Without a blank the number is the whole line, and the line its own text.
        return _Line(int(number), [cell.strip() for cell in (rest if blank else line).split("\t")])
    except ValueError as error:
        raise BadRecord("BS-09", f"a line without a number: {text[:200]!r}") from error


def _entries(lines: list[str]) -> Iterator[_Entry]:
    """Gather lines up to one that has a label; what is left at the end is an entry without."""
    said: list[str] = []
    for line in filter(None, map(_line, lines)):
        if line.cells[0] or said:
            said.append(line.cells[0])
        if len(line.cells) > 2 and line.cells[2]:
            _check_reward(line.cells[2])
        if len(line.cells) > 1 and line.cells[1]:
            candidates = line.cells[3].split("|") if len(line.cells) > 3 else []
            yield _Entry("\n".join(said), line.cells[1].split("|"), candidates)
            said = []
    if text := "\n".join(said).strip():
        yield _Entry(text, [], [])


def _check_reward(cell: str) -> None:
    try:
        float(cell)
    except ValueError as error:
        raise BadRecord("BS-09", f"a reward that is no number: {cell[:200]!r}") from error
