"""The three lists in text files: personas, topics with their persona sentences, and safe personas."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from msgspec import Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.records import (
    UniqueTexts,
    extra_of,
    lines_of,
    read_lines,
    read_records,
    record_at,
)
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, SourceLocation
from talkhouse.ingest.rows import PersonaUse
from talkhouse.ingest.stored_record import StoredRecord

SEPARATOR = "||"
"""What stands between two personas of the persona list."""

_SET = "persona"
_PREFIX = "your persona: "
"""How a line of a persona begins in ParlAI's text formats."""

_LONGEST_TOPIC = 1_000_000
"""Characters of a line that Python's parser is given, which takes hundreds of bytes for each of them."""

_TOPIC = re.compile(r"([^\[]+): (\[.+\])", re.DOTALL)


class _Extra(Struct):
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
    return (text + ("" if extra_of(stored, _Extra).lacks_final_newline else "\n")).encode()


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
    if not isinstance(sentences, list) or not all(isinstance(one, str) and _is_text(one) for one in sentences):
        raise BadRecord("BS-09", f"no list of texts: {match[2][:200]!r}")
    return match[1], sentences


def _is_text(text: str) -> bool:
    """Whether a text can be stored: an escape in the list may be half of a surrogate pair."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def write_topic(stored: StoredRecord) -> bytes:
    """Write one line of the topics."""
    differs = extra_of(stored, _Extra).differs
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
