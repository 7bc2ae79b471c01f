"""The three lists in text files: personas, topics with their persona sentences, and safe personas."""

import ast
import re
from collections.abc import Callable, Iterator

from ingest import decode
from ingest.corpora.blended_skill_talk.given import Given
from ingest.corpora.blended_skill_talk.library import Library
from ingest.corpora.blended_skill_talk.names import PERSONA_LINE
from ingest.decode import BadRecord, pointer
from ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, Rejected, reject
from ingest.rows import PersonaUse, Record, Row

BETWEEN = "||"
"""What stands between two personas of the persona list."""

_TOPIC = re.compile(r"([^\[]+): (\[.+\])", re.DOTALL)

Reader = Callable[[Given, str, Library], Iterator[Outcome]]


def persona_list(given: Given, text: str, library: Library) -> Iterator[Outcome]:
    """Read personas as ParlAI does: blank ends of the file do not count, nor does what is empty between marks."""
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if text.strip() else ""
    pieces = text.strip().split(BETWEEN)
    empty = [index for index, piece in enumerate(pieces) if not piece]
    personas = [piece for piece in pieces if piece]
    extra = {"shape": "personas", "head": head, "tail": tail, "empty": empty}
    yield FileEnvelope(given.file, {key: value for key, value in extra.items() if value}, len(personas))
    seen: set[int] = set()
    for index, persona in enumerate(personas):
        seen.add(hash(persona))
        lines = persona.removesuffix("\n").split("\n")
        record = given.record(index, pointer(index), {"lacks_final_newline": not persona.endswith("\n")})
        yield _loaded(given, record, _persona_lines(record, lines, library), len(persona))
    yield from _repeated(given, len(personas), len(seen))


def topics(given: Given, text: str, library: Library) -> Iterator[Outcome]:
    """Read a topic per line: ``topic: ['sentence', ...]``; a topic may itself hold ``: ``."""
    lines = _lines(text)
    yield _frame(given, text, len(lines))
    for index, line in enumerate(lines):
        is_open = index == len(lines) - 1 and not text.endswith("\n")
        try:
            topic, sentences = _topic(line, is_open=is_open)
        except BadRecord as bad:
            yield reject(given.place(index, pointer(index), len(line)), bad, line.encode())
            continue
        differs = {} if line == topic_line(topic, sentences) else {"": line}
        record = given.record(index, pointer(index), {"differs": differs}, native_id=topic)
        yield _loaded(given, record, _sentences(record, sentences, library), len(line))


def safe_personas(given: Given, text: str, library: Library) -> Iterator[Outcome]:
    """Read a line of sentences that are safe to use, with ``|`` between them."""
    lines = _lines(text)
    yield _frame(given, text, len(lines))
    for index, line in enumerate(lines):
        record = given.record(index, pointer(index), {})
        yield _loaded(given, record, _sentences(record, line.split("|"), library), len(line))
    yield from _repeated(given, len(lines), len(set(map(hash, lines))))


def read_list(given: Given, raw: bytes, library: Library, reader: Reader) -> Iterator[Outcome]:
    """Read one of the lists; a file that is no UTF-8 is refused whole."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        refused: Rejected = given.refused(decode.json_problem(raw, error), raw)
        yield refused
        return
    yield from reader(given, text, library)


def topic_line(topic: str, sentences: list[str]) -> str:
    """Write a line of the topics' file as Python prints the list."""
    return f"{topic}: {sentences!r}"


def _topic(line: str, *, is_open: bool) -> tuple[str, list[str]]:
    """Read one topic; raises BadRecord where ParlAI's pattern, which wants the line's end too, would not match."""
    found = _TOPIC.fullmatch(line.removesuffix("\r"))
    if found is None or is_open:
        raise BadRecord("BS-09", "no line end" if found else f"not 'topic: [list]': {line[:200]!r}")
    try:
        sentences = ast.literal_eval(found[2])
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise BadRecord("BS-09", f"no list of texts: {found[2][:200]!r}") from error
    if not isinstance(sentences, list) or not all(isinstance(one, str) and _is_text(one) for one in sentences):
        raise BadRecord("BS-09", f"no list of texts: {found[2][:200]!r}")
    return found[1], sentences


def _is_text(text: str) -> bool:
    """Whether a text can be stored: an escape in the list may be half of a surrogate pair."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _persona_lines(record: Record, lines: list[str], library: Library) -> Iterator[Row]:
    """Give the sentences of a persona, without the words that each line begins with."""
    rows: list[Row] = []
    for position, line in enumerate(lines):
        is_plain = line.startswith(PERSONA_LINE)
        persona_id = library.persona(line.removeprefix(PERSONA_LINE), rows)
        extra = None if is_plain else '{"line":true}'
        rows.append(PersonaUse(record.record_id, None, "persona", position, None, persona_id, extra=extra))
    yield from rows


def _sentences(record: Record, sentences: list[str], library: Library) -> Iterator[Row]:
    rows: list[Row] = []
    for position, text in enumerate(sentences):
        persona_id = library.persona(text, rows)
        rows.append(PersonaUse(record.record_id, None, "persona", position, None, persona_id))
    yield from rows


def _loaded(given: Given, record: Record, rows: Iterator[Row], size: int) -> Loaded:
    place = given.place(record.record_index, record.source_pointer, size)
    return Loaded(place, [record, *rows])


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _frame(given: Given, text: str, count: int) -> FileEnvelope:
    is_open = bool(text) and not text.endswith("\n")
    return FileEnvelope(given.file, {"shape": "lines", "lacks_final_newline": is_open}, count)


def _repeated(given: Given, count: int, distinct: int) -> Iterator[ReaderFinding]:
    if distinct < count:
        yield ReaderFinding("BS-11", f"{count - distinct:,} of {count:,} repeat an earlier one", given.file, "")
