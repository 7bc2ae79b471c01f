"""What the topicifiers use, as ParlAI publishes or caches it: ConvAI2, EmpatheticDialogues, Wizard of Wikipedia."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.records import (
    UniqueTexts,
    extra_of,
    lines_of,
    read_json_list,
    read_lines,
    record_at,
    texts_at,
)
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation
from talkhouse.ingest.rows import Candidate
from talkhouse.ingest.stored_record import StoredRecord

_CONVAI2_LABELS = "convai2_label"
"""The candidate set."""


class _Line(NamedTuple):
    """A line: its number, and its cells without outer blanks."""

    number: int
    cells: list[str]


class _Convai2Entry(NamedTuple):
    """One example: everything since the one before, the labels, and the candidates."""

    text: str
    labels: list[str]
    candidates: list[str]


class _KeptConvai2Entry(Struct):
    text: str
    labels: list[str]


class _Convai2Extra(Struct):
    """What ``records.extra`` holds; the lines where the entries would be written otherwise."""

    entries: list[_KeptConvai2Entry] = []
    lines: list[str] | None = None


def read_convai2(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read the episodes of a file; a number that does not rise begins the next."""
    text = decode.text(raw)
    episodes = ["\n".join(lines) for lines in _episodes(lines_of(text))]
    yield from read_lines(input_file, text, episodes, partial(_convai2_episode, input_file, texts))


def _convai2_episode(input_file: InputFile, texts: UniqueTexts, location: SourceLocation, raw: bytes) -> Loaded:
    lines = raw.decode().split("\n")
    entries = list(_convai2_entries(lines))
    kept = [{"text": entry.text, "labels": entry.labels} for entry in entries]
    is_plain = _published_lines(entries) == lines
    record = record_at(location, input_file, {"entries": kept, "lines": None if is_plain else lines})
    lists = [(number, entry.candidates) for number, entry in enumerate(entries)]
    rows, column_batches = texts.candidates(record, _CONVAI2_LABELS, lists)
    return Loaded(location, [record, *rows], column_batches=column_batches)


def write_convai2(stored: StoredRecord) -> bytes:
    """Write the numbered lines of an episode."""
    extra = extra_of(stored, _Convai2Extra)
    entries = [
        _Convai2Entry(kept.text, kept.labels, texts_at(stored, number)) for number, kept in enumerate(extra.entries)
    ]
    return "\n".join(_published_lines(entries) if extra.lines is None else extra.lines).encode()


def _published_lines(entries: list[_Convai2Entry]) -> list[str]:
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


def _convai2_entries(lines: list[str]) -> Iterator[_Convai2Entry]:
    """Gather lines up to one that has a label; what is left at the end is an entry without."""
    said: list[str] = []
    for line in filter(None, map(_line, lines)):
        if line.cells[0] or said:
            said.append(line.cells[0])
        if len(line.cells) > 2 and line.cells[2]:
            _check_reward(line.cells[2])
        if len(line.cells) > 1 and line.cells[1]:
            candidates = line.cells[3].split("|") if len(line.cells) > 3 else []
            yield _Convai2Entry("\n".join(said), line.cells[1].split("|"), candidates)
            said = []
    if text := "\n".join(said).strip():
        yield _Convai2Entry(text, [], [])


def _check_reward(cell: str) -> None:
    try:
        float(cell)
    except ValueError as error:
        raise BadRecord("BS-09", f"a reward that is no number: {cell[:200]!r}") from error


_ED_LABELS = "ed_label"
"""The candidate set."""


class _EdEntry(Struct, forbid_unknown_fields=True):
    """One act; what nothing reads is raw."""

    text: str
    labels: list[str]
    episode_done: Raw
    label_candidates: list[str] | UnsetType | None = UNSET
    situation: Raw | UnsetType = UNSET
    emotion: Raw | UnsetType = UNSET
    prepend_ctx: Raw | UnsetType = UNSET
    prepend_cand: Raw | UnsetType = UNSET
    deepmoji_ctx: Raw | UnsetType = UNSET
    deepmoji_cand: Raw | UnsetType = UNSET


class _EdExtra(Struct):
    """What ``records.extra`` holds: the acts, in which a number stands for the list of candidates."""

    entries: list[dict[str, Raw]] = []


def read_ed(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read the episodes of a file."""
    return read_json_list(input_file, raw, partial(_ed_episode, input_file, texts))


def _ed_episode(input_file: InputFile, texts: UniqueTexts, location: SourceLocation, raw: bytes) -> Loaded:
    """Read one episode; candidates go by reference, everything else stays as it is."""
    entries, unknown = decode.record(raw, list[_EdEntry], rule="BS-09")
    for number, entry in enumerate(entries):
        # In train the reference code deletes the field, and stops where it is not there.
        if location.split == "train" and entry.label_candidates is UNSET:
            raise BadRecord("BS-09", "no label_candidates", pointer(number))
    acts: list[dict[str, Any]] = decode.decoder(list[dict[str, Raw]]).decode(raw)
    lists = [(number, entry.label_candidates) for number, entry in enumerate(entries) if entry.label_candidates]
    for act, entry in zip(acts, entries, strict=True):
        if isinstance(entry.label_candidates, list):
            act["label_candidates"] = len(entry.label_candidates)
    record = record_at(location, input_file, {"entries": acts, "unknown": list(unknown)})
    rows, column_batches = texts.candidates(record, _ED_LABELS, lists)
    return Loaded(location, [record, *rows], column_batches=column_batches)


def write_ed(stored: StoredRecord) -> bytes:
    """Put the lists of candidates back where their numbers stand."""
    entries: list[dict[str, Any]] = [dict(entry) for entry in extra_of(stored, _EdExtra).entries]
    for number, entry in enumerate(entries):
        if bytes(entry.get("label_candidates", b"null")) != b"null":
            entry["label_candidates"] = texts_at(stored, number)
    return msgspec.json.encode(entries)


_WOW_EPISODE = "episode"
"""A candidate set that is no list of answers: its one item holds the whole episode."""


class _WowTurn(Struct):
    """What the teacher reads of a turn."""

    speaker: str
    text: str


class _WowEpisode(Struct):
    """What the teacher reads of an episode; the whole of it is kept in one piece."""

    dialog: list[_WowTurn]
    chosen_topic: str = ""


def read_wow(input_file: InputFile, raw: bytes, _: UniqueTexts) -> Iterator[Outcome]:
    """Read the episodes of a file."""
    return read_json_list(input_file, raw, partial(_wow_episode, input_file))


def _wow_episode(input_file: InputFile, location: SourceLocation, raw: bytes) -> Loaded:
    """Read one episode: its entries, and the JSON as published."""
    decode.check_depth(raw)
    try:
        episode = decode.decoder(_WowEpisode).decode(raw)
    except msgspec.ValidationError as error:
        raise decode.shape_problem(error, "BS-09") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    if not episode.dialog:
        raise BadRecord("BS-09", "an episode without turns", "/dialog")
    record = record_at(location, input_file, {"entries": list(_wow_entries(episode))})
    whole = Candidate(record.record_id, None, _WOW_EPISODE, 0, 0, None, None, extra=raw.decode())
    return Loaded(location, [record, whole])


def _wow_entries(episode: _WowEpisode) -> Iterator[dict[str, Any]]:
    """List the entries: an answer of the wizard after what the apprentice said.

    The first has the topic on a line of its own; where the wizard begins it has nothing else, and the last turn
    is left out as ParlAI does by default.
    """
    turns = episode.dialog
    wizard_first = "Wizard" in turns[0].speaker
    count = (len(turns) - 1) // 2 if wizard_first else len(turns) // 2
    for number in range(count):
        answer = 2 * number if wizard_first else 2 * number + 1
        before = turns[answer - 1].text if answer else None
        lines = [episode.chosen_topic] if number == 0 else []
        lines += [] if before is None else [before]
        yield {"text": "\n".join(lines), "labels": [turns[answer].text]}


def write_wow(stored: StoredRecord) -> bytes:
    """Return an episode as it was published."""
    return (stored.candidates[0].extra or "").encode()
