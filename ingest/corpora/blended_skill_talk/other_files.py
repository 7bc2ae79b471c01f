"""The files other than the episodes: lists of personas and topics, and what the topicifiers use of other data sets."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
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
    read_records,
    record_at,
    texts_at,
)
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, SourceLocation
from talkhouse.ingest.rows import Candidate, PersonaUse
from talkhouse.ingest.stored_record import StoredRecord

SEPARATOR = "||"
"""What stands between two personas of the persona list."""

_SET = "persona"
_PREFIX = "your persona: "
"""How a line of a persona begins in ParlAI's text formats."""

_LONGEST_TOPIC = 1_000_000
"""Characters of a line that Python's parser is given, which takes hundreds of bytes for each of them."""

_TOPIC = re.compile(r"([^\[]+): (\[.+\])", re.DOTALL)


class LineExtra(Struct):
    """What ``records.extra`` holds: of a persona, and of a topic that Python would print in another way."""

    lacks_final_newline: bool = False
    differs: dict[str, str] = {}


def read_persona_list(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read personas as ParlAI does: blank ends of the file do not count, nor does an empty place between separators."""
    text = decode.text(raw)
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if text.strip() else ""
    pieces = text.strip().split(SEPARATOR)
    personas = [piece for piece in pieces if piece]
    empty = [index for index, piece in enumerate(pieces) if not piece]
    extra = {"shape": "personas", "head": head, "tail": tail, "empty": empty}
    yield FileEnvelope(input_file.file, {key: value for key, value in extra.items() if value}, len(personas))
    yield from read_records(input_file, map(str.encode, personas), partial(_persona, input_file, texts))
    yield from _repetitions(input_file, personas)


def _persona(input_file: InputFile, texts: UniqueTexts, location: SourceLocation, raw: bytes) -> Loaded:
    """Read the sentences of a persona, without the words that each line begins with."""
    persona = raw.decode()
    lines = persona.removesuffix("\n").split("\n")
    record = record_at(location, input_file, {"lacks_final_newline": not persona.endswith("\n")})
    rows = texts.persona_uses(record, _SET, (line.removeprefix(_PREFIX) for line in lines))
    for use in (row for row in rows if isinstance(row, PersonaUse)):
        use.extra = None if lines[use.position].startswith(_PREFIX) else '{"line":true}'
    return Loaded(location, [record, *rows])


def write_persona(stored: StoredRecord) -> bytes:
    """Write one persona of the list, a sentence a line."""
    lines = zip(stored.persona_uses, _sentences(stored), strict=True)
    text = "\n".join(sentence if use.extra else _PREFIX + sentence for use, sentence in lines)
    return (text + ("" if extra_of(stored, LineExtra).lacks_final_newline else "\n")).encode()


def read_topics(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read a topic per line: ``topic: ['sentence', ...]``; a topic may itself hold ``: ``."""
    text = decode.text(raw)
    lines = lines_of(text)
    open_line = None if text.endswith("\n") else len(lines) - 1
    yield from read_lines(input_file, text, lines, partial(_topic, input_file, texts, open_line))


def _topic(
    input_file: InputFile, texts: UniqueTexts, open_line: int | None, location: SourceLocation, raw: bytes
) -> Loaded:
    line = raw.decode()
    topic, sentences = _parse_topic(line, is_open=location.record_index == open_line)
    differs = {} if line == _topic_line(topic, sentences) else {"": line}
    record = record_at(replace(location, native_id=topic), input_file, {"differs": differs})
    return Loaded(location, [record, *texts.persona_uses(record, _SET, sentences)])


def _parse_topic(line: str, *, is_open: bool) -> tuple[str, list[str]]:
    """Read one topic; raises BadRecord where ParlAI's pattern, which wants the line's end too, would not match."""
    if len(line) > _LONGEST_TOPIC:
        raise BadRecord("BS-09", f"{len(line):,} characters in a line, more than {_LONGEST_TOPIC:,}")
    match = _TOPIC.fullmatch(line.removesuffix("\r"))
    if match is None or is_open:
        raise BadRecord("BS-09", "no line end" if match else f"not 'topic: [list]': {line[:200]!r}")
    try:
        sentences = ast.literal_eval(match[2])
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise BadRecord("BS-09", f"no list of texts: {match[2][:200]!r}") from error
    if not isinstance(sentences, list) or not all(
        isinstance(sentence, str) and _is_text(sentence) for sentence in sentences
    ):
        raise BadRecord("BS-09", f"no list of texts: {match[2][:200]!r}")
    return match[1], sentences


def _is_text(text: str) -> bool:
    """Whether a text can be stored: an escape in the list may be half of a surrogate pair."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def write_topic(stored: StoredRecord) -> bytes:
    """Write one line of the topics."""
    differs = extra_of(stored, LineExtra).differs
    topic = stored.loaded.native_id
    return differs.get("", _topic_line(topic or "", _sentences(stored))).encode()


def _topic_line(topic: str, sentences: list[str]) -> str:
    """Write a line of the topics' file as Python prints the list."""
    return f"{topic}: {sentences!r}"


def read_safe_personas(input_file: InputFile, raw: bytes, texts: UniqueTexts) -> Iterator[Outcome]:
    """Read a line of sentences that are safe to use, with ``|`` between them."""
    text = decode.text(raw)
    lines = lines_of(text)
    yield from read_lines(input_file, text, lines, partial(_safe_persona, input_file, texts))
    yield from _repetitions(input_file, lines)


def _safe_persona(input_file: InputFile, texts: UniqueTexts, location: SourceLocation, raw: bytes) -> Loaded:
    record = record_at(location, input_file, {})
    return Loaded(location, [record, *texts.persona_uses(record, _SET, raw.decode().split("|"))])


def write_safe_persona(stored: StoredRecord) -> bytes:
    """Write one line of safe sentences."""
    return "|".join(_sentences(stored)).encode()


def _sentences(stored: StoredRecord) -> list[str]:
    return [stored.personas[use.persona_id].text for use in stored.persona_uses]


def _repetitions(input_file: InputFile, records: list[str]) -> Iterator[ReaderFinding]:
    if repeated := len(records) - len(set(records)):
        yield ReaderFinding("BS-11", f"{repeated:,} of {len(records):,} repeat an earlier one", input_file.file, "")


_CONVAI2_LABELS = "convai2_label"
"""The candidate set."""


class NumberedLine(NamedTuple):
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
    stored = [{"text": entry.text, "labels": entry.labels} for entry in entries]
    is_plain = _published_lines(entries) == lines
    record = record_at(location, input_file, {"entries": stored, "lines": None if is_plain else lines})
    lists = [(number, entry.candidates) for number, entry in enumerate(entries)]
    rows, column_batches = texts.candidates(record, _CONVAI2_LABELS, lists)
    return Loaded(location, [record, *rows], column_batches=column_batches)


def write_convai2(stored: StoredRecord) -> bytes:
    """Write the numbered lines of an episode."""
    extra = extra_of(stored, _Convai2Extra)
    entries = [
        _Convai2Entry(entry.text, entry.labels, texts_at(stored, number)) for number, entry in enumerate(extra.entries)
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


def _line(text: str) -> NumberedLine | None:
    """Read a line as ParlAI does, or None if it is blank, BadRecord where it has no number."""
    line = text.strip().replace("\\n", "\n")
    if not line:
        return None
    number, blank, rest = line.partition(" ")
    try:
        # Without a blank the number is the whole line, and the line its own text.
        return NumberedLine(int(number), [cell.strip() for cell in (rest if blank else line).split("\t")])
    except ValueError as error:
        raise BadRecord("BS-09", f"a line without a number: {text[:200]!r}") from error


def _convai2_entries(lines: list[str]) -> Iterator[_Convai2Entry]:
    """Gather lines up to one that has a label; what is left at the end is an entry without."""
    texts: list[str] = []
    for line in filter(None, map(_line, lines)):
        if line.cells[0] or texts:
            texts.append(line.cells[0])
        if len(line.cells) > 2 and line.cells[2]:
            _check_reward(line.cells[2])
        if len(line.cells) > 1 and line.cells[1]:
            candidates = line.cells[3].split("|") if len(line.cells) > 3 else []
            yield _Convai2Entry("\n".join(texts), line.cells[1].split("|"), candidates)
            texts = []
    if text := "\n".join(texts).strip():
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
