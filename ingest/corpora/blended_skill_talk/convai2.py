"""ConvAI2 in the format that ParlAI publishes: numbered lines, with tabs between text, label, reward, candidates."""

from collections.abc import Iterator
from typing import NamedTuple

from ingest import decode
from ingest.corpora.blended_skill_talk.given import Given
from ingest.corpora.blended_skill_talk.library import Library
from ingest.corpora.blended_skill_talk.names import CONVAI2_LABELS
from ingest.decode import BadRecord, pointer
from ingest.outcomes import FileEnvelope, Loaded, Outcome, reject


class Line(NamedTuple):
    """A line: its number, and its cells without outer blanks; None where the line is blank."""

    number: int
    cells: list[str]


class Entry(NamedTuple):
    """One example: everything since the one before, the labels, and the candidates."""

    text: str
    labels: list[str]
    candidates: list[str]


def episodes(given: Given, raw: bytes, library: Library) -> Iterator[Outcome]:
    """Read the episodes of a file; a number that does not rise begins the next."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        yield given.refused(decode.json_problem(raw, error), raw)
        return
    groups = list(_groups(text.removesuffix("\n").split("\n"))) if text else []
    is_open = bool(text) and not text.endswith("\n")
    yield FileEnvelope(given.file, {"shape": "lines", "lacks_final_newline": is_open}, len(groups))
    for index, lines in enumerate(groups):
        yield _episode(given, index, lines, library)


def published_lines(entries: list[Entry]) -> list[str]:
    """Write entries as the publisher does: numbered lines, what is said before the utterance on lines of its own."""
    lines: list[str] = []
    for entry in entries:
        *before, utterance = entry.text.split("\n")
        lines += (f"{len(lines) + number} {line}" for number, line in enumerate(before, 1))
        candidates = "\t\t" + "|".join(entry.candidates) if entry.candidates else ""
        lines.append(f"{len(lines) + 1} {utterance}\t{'|'.join(entry.labels)}{candidates}")
    return lines


def _episode(given: Given, index: int, lines: list[str], library: Library) -> Outcome:
    size = sum(map(len, lines)) + len(lines)
    place = given.place(index, pointer(index), size)
    try:
        entries = list(_entries(lines))
    except BadRecord as bad:
        return reject(place, bad, "\n".join(lines).encode())
    kept = [{"text": entry.text, "labels": entry.labels} for entry in entries]
    is_plain = published_lines(entries) == lines
    record = given.record(index, pointer(index), {"entries": kept, "lines": None if is_plain else lines})
    lists = [(number, entry.candidates) for number, entry in enumerate(entries)]
    texts, column_batches = library.candidates(record, CONVAI2_LABELS, lists)
    return Loaded(place, [record, *texts], column_batches=column_batches)


def _groups(lines: list[str]) -> Iterator[list[str]]:
    """Split lines into episodes; a line that can't be read stays where it is, to be refused with its episode."""
    group: list[str] = []
    last: int | None = None
    for line in lines:
        try:
            parsed = _line(line)
        except BadRecord:
            parsed = None
        if parsed is not None:
            if last is not None and parsed.number <= last:
                yield group
                group = []
            last = parsed.number
        group.append(line)
    if group:
        yield group


def _line(text: str) -> Line | None:
    """Read a line as ParlAI does; raises BadRecord where it has no number."""
    line = text.strip().replace("\\n", "\n")
    if not line:
        return None
    number, blank, rest = line.partition(" ")
    try:
        # Without a blank the number is the whole line, and the line its own text.
        return Line(int(number), [cell.strip() for cell in (rest if blank else line).split("\t")])
    except ValueError as error:
        raise BadRecord("BS-09", f"a line without a number: {text[:200]!r}") from error


def _entries(lines: list[str]) -> Iterator[Entry]:
    """Gather lines up to one that has a label; what is left at the end is an entry without."""
    text = ""
    for line in filter(None, map(_line, lines)):
        text = f"{text}\n{line.cells[0]}" if text else line.cells[0]
        if len(line.cells) > 2 and line.cells[2]:
            _check_reward(line.cells[2])
        if len(line.cells) > 1 and line.cells[1]:
            candidates = line.cells[3].split("|") if len(line.cells) > 3 else []
            yield Entry(text, line.cells[1].split("|"), candidates)
            text = ""
    if text.strip():
        yield Entry(text.strip(), [], [])


def _check_reward(cell: str) -> None:
    try:
        float(cell)
    except ValueError as error:
        raise BadRecord("BS-09", f"a reward that is no number: {cell[:200]!r}") from error
