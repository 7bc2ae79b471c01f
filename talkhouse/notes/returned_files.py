"""Files that bring labels and words back: exports of Label Studio and Argilla, and tables; each is a stranger's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import msgspec

from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.sources import BOM
from talkhouse.notes.notes_file import SOURCES, dialogue_hash, text_hash
from talkhouse.schema.errors import UsageError
from talkhouse.system.files import temporary_folder
from talkhouse.user_files import TABLES, UserFile, bounded, copy_files, open_tables, readable, reading, select_of

NOTE_LABEL, NOTE_TEXT, COMMENT = "note_label", "note", "comment"
"""The controls and questions for notes in what is exported: labels, words on a turn, words on a dialogue."""

NOTE_LABEL_OF_DIALOGUE = f"{NOTE_LABEL}_of_dialogue"
"""The control for labels of dialogues, where those of turns have one of their own."""

ONLY_WORDS = "(note)"
"""The label of a region that is only there for the words on it."""


class ReturnedNote(NamedTuple):
    """A label or words of a file on the text of a turn or dialogue, or what keeps it from being one."""

    file: Path
    place: str
    """In the file: a JSON pointer, or the number of a row."""
    dialogue_id: str
    author: str | None
    source: str
    turn_index: int | None = None
    text: str | None = None
    """Of a turn, as in the file, or None if the file does not have it."""
    text_sha256: str | None = None
    """As in ``notes``, or None if the file does not have the text."""
    label: str | None = None
    note: str | None = None
    problem: str = ""
    """What can't be taken back of it."""


def read_files(con: duckdb.DuckDBPyConnection, paths: Sequence[Path], limits: Limits) -> list[ReturnedNote]:
    """Return the notes in returned files, in their order; meanwhile, ``con`` has little memory.

    Raises UsageError for files that are none of these, and SourceError for what is beyond the limits.
    """
    found: list[ReturnedNote] = []
    with temporary_folder() as folder:
        for file in copy_files(paths, folder, limits):
            if file.is_folder:
                raise UsageError("this is a folder", where=file.path, next_step="name the files in it")
            if file.path.suffix.lower() == ".json":
                found += _bounded(file.path, _of_json(file))
            elif file.path.suffix.lower() in TABLES:
                found += _of_table(con, file, folder, limits)
            else:
                raise UsageError(
                    f"the name '{file.path.name}' does not show what is in it",
                    where=file.path,
                    expected=f"a name that ends in .json (an export of Label Studio or Argilla), {', '.join(TABLES)}",
                )
    return found


_MOST_NOTES = 100_000
"""Notes that a JSON file brings. Each turn of a region has its own, so a small file could ask for any number."""


def _bounded(file: Path, notes: Iterator[ReturnedNote]) -> Iterator[ReturnedNote]:
    for number, note in enumerate(notes):
        if number == _MOST_NOTES:
            raise UsageError(
                "the file brings too many notes",
                where=file,
                expected=f"at most {_MOST_NOTES:,}: one for each label, or words, on each turn of a region",
                next_step="export fewer tasks at a time, or label turns one by one rather than in long regions",
            )
        yield note


class _Paragraph(msgspec.Struct):
    text: str
    turn_index: int | None = None


class _Data(msgspec.Struct):
    dialogue_id: str
    dialogue: list[_Paragraph]


class _Result(msgspec.Struct):
    type: str = ""
    from_name: str = ""
    id: str | None = None
    value: dict[str, Any] = {}


class _Annotation(msgspec.Struct):
    result: list[_Result] = []
    was_cancelled: bool = False
    completed_by: Any = None


class _Task(msgspec.Struct):
    data: _Data
    annotations: list[_Annotation] = []


class _Message(msgspec.Struct):
    content: str


class _Fields(msgspec.Struct):
    dialogue: list[_Message]


class _Response(msgspec.Struct):
    value: Any = None
    user_id: str | None = None
    status: str | None = None


class _Record(msgspec.Struct):
    id: str
    fields: _Fields
    responses: dict[str, list[_Response]] = {}


_MOST_SAID = 300
"""Characters of what is said about a file: it may quote a line of any length."""


def _of_json(file: UserFile) -> Iterator[ReturnedNote]:
    try:
        with readable([file]):
            content = file.only.read_bytes().removeprefix(BOM)
        keys = {key for item in msgspec.json.decode(content, type=list[dict[str, msgspec.Raw]]) for key in item}
        if "data" in keys:
            for number, task in enumerate(msgspec.json.decode(content, type=list[_Task])):
                yield from _of_task(file.path, number, task)
        elif "fields" in keys:
            for number, record in enumerate(msgspec.json.decode(content, type=list[_Record])):
                yield from _of_record(file.path, number, record)
        elif keys:
            raise msgspec.ValidationError(f"objects with {', '.join(sorted(keys))}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            "this is not what Label Studio or Argilla exports",
            where=file.path,
            expected="a list of tasks with data.dialogue_id, data.dialogue and annotations (Label Studio, JSON), or of "
            "records with id, fields.dialogue and responses (Argilla, to_json)",
            found=(str(error) or type(error).__name__)[:_MOST_SAID],
            next_step="export it again as JSON, from a project of talkhouse export --for labelstudio or argilla",
        ) from error


_LABEL_STUDIO = "label studio"


@dataclass
class _Region:
    """What an annotator says of the same turns."""

    pointer: str
    labels: list[str]
    words: list[str]


class _Answers(NamedTuple):
    """The labels and the words of a result, or why it has none."""

    labels: Sequence[str] = ()
    words: Sequence[str] = ()
    problem: str = ""


def _of_task(file: Path, number: int, task: _Task) -> Iterator[ReturnedNote]:
    """Yield what annotators have said of a task of Label Studio: results of one id are of one region."""
    paragraphs, dialogue_id = task.data.dialogue, task.data.dialogue_id
    whole = dialogue_hash(paragraph.text for paragraph in paragraphs)
    text_hashes = dict[int, str]()
    for place, annotation in enumerate(task.annotations):
        if annotation.was_cancelled:
            continue
        regions: dict[tuple[range | None, str | int | None], _Region] = {}
        author = _annotator(annotation.completed_by)
        for at, result in enumerate(annotation.result):
            pointer = f"/{number}/annotations/{place}/result/{at}"
            answers = _answers(result)
            turns, where = _paragraphs(result.value, len(paragraphs))
            if problem := answers.problem or where:
                yield ReturnedNote(file, pointer, dialogue_id, author, _LABEL_STUDIO, problem=problem)
                continue
            region = regions.setdefault((turns, at if turns is None else result.id), _Region(pointer, [], []))
            region.labels += answers.labels
            region.words += answers.words
        for (turns, _), region in regions.items():
            labels = [label for label in region.labels if not (region.words and label == ONLY_WORDS)]
            for turn in [None] if turns is None else turns:
                note = ReturnedNote(file, region.pointer, dialogue_id, author, _LABEL_STUDIO, text_sha256=whole)
                if turn is not None:
                    paragraph = paragraphs[turn]
                    # Before a task had the numbers of turns, paragraphs were counted.
                    index = turn if paragraph.turn_index is None else paragraph.turn_index
                    text_hashes[turn] = text_hashes.get(turn) or text_hash(paragraph.text)
                    note = note._replace(turn_index=index, text=paragraph.text, text_sha256=text_hashes[turn])
                for label, words in zip_longest(labels, region.words):
                    yield note._replace(label=label, note=words)


def _annotator(completed_by: Any) -> str | None:
    """Return the author of an annotation: an id, or an object with an address."""
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return (
        None if completed_by is None else str(completed_by) if isinstance(completed_by, str) else f"user {completed_by}"
    )


def _answers(result: _Result) -> _Answers:
    name = {"paragraphlabels": "paragraphlabels", "choices": "choices", "textarea": "text"}.get(result.type)
    if name is None:
        return _Answers(problem=f"a result of the type '{result.type[:80]}', which is neither a label nor words")
    found = result.value.get(name)
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return _Answers(problem=f"no list of texts as value.{name}")
    if name == "text":
        return _Answers(words=texts)
    return _Answers([_named(result.from_name, text) for text in texts])


def _named(asked_by: str, answer: str) -> str:
    """Return an answer as a label: one to anything but the question for notes says what was asked."""
    return answer if asked_by in ("", NOTE_LABEL, NOTE_LABEL_OF_DIALOGUE) else f"{asked_by}={answer}"


def _paragraphs(value: Mapping[str, Any], count: int) -> tuple[range | None, str]:
    """Return the paragraphs of a region, those from ``start`` to ``end``; None for the whole dialogue."""
    if "start" not in value:
        return None, ""
    try:
        first, last = int(value["start"]), int(value.get("end", value["start"]))
    except (TypeError, ValueError):
        first, last = -1, -1
    if not 0 <= first <= last < count:
        return None, f"a region from paragraph {value['start']!r:.20} to {value.get('end')!r:.20}, of {count:,}"
    return range(first, last + 1), ""


def _of_record(file: Path, number: int, record: _Record) -> Iterator[ReturnedNote]:
    """Yield what annotators have answered to a record of Argilla, each about the whole dialogue."""
    whole = dialogue_hash(message.content for message in record.fields.dialogue)
    for question, responses in record.responses.items():
        for place, response in enumerate(responses):
            if response.status not in (None, "submitted"):
                continue  # a draft, or discarded
            pointer = f"/{number}/responses/{question}/{place}"
            author = None if response.user_id is None else f"user {response.user_id}"
            texts = response.value if isinstance(response.value, list) else [response.value]
            for text in texts:
                is_text = isinstance(text, str)
                is_words = is_text and question == COMMENT
                yield ReturnedNote(
                    file,
                    pointer,
                    record.id,
                    author,
                    "argilla",
                    text_sha256=whole,
                    label=_named(question, text) if is_text and not is_words else None,
                    note=text if is_words else None,
                    problem="" if is_text else "an answer that is no text",
                )


_MOST_ROWS = 1_000_000

_WANTED = ("dialogue_id", "turn_index", "label", "note", "text", "text_sha256", "author", "source")


def _of_table(con: duckdb.DuckDBPyConnection, file: UserFile, folder: Path, limits: Limits) -> Iterator[ReturnedNote]:
    """Yield the rows of a table; an empty text is none, but for that of a turn."""
    next_step = "give it a row for each note, and bring them in several files"
    with reading(con, folder, limits, "notes", next_step) as reader:
        tables = open_tables(reader, [file], _WANTED)
        names = tables[0].names
        if "dialogue_id" not in names or not {"label", "note"}.intersection(names):
            raise UsageError(
                "a table of notes has dialogue_id, and label, note or both",
                where=file.path,
                expected=f"columns of: {', '.join(_WANTED)}",
                found=f"{', '.join(names)[:_MOST_SAID]}",
            )
        columns = ", ".join(f"{name if name in names else 'null'}::varchar as {name}" for name in _WANTED)
        with readable([file]):
            rows = reader.rows(f"select {columns} from ({select_of(reader, tables, _WANTED)})")
            batches = list(bounded(rows.batches, limits, partial(_check_rows, file.path)))
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            number += 1
            turn, text = row["turn_index"], row["text"]
            is_turn = bool(turn and turn.isascii() and turn.isdecimal() and len(turn) < 10)
            yield ReturnedNote(
                file.path,
                f"row {number:,}",
                row["dialogue_id"] or "",
                row["author"] or None,
                row["source"] if row["source"] in SOURCES else "table",  # what --output wrote comes back as it was
                turn_index=int(turn) if is_turn else None,
                text=text,
                text_sha256=row["text_sha256"] or (None if text is None or not turn else text_hash(text)),
                label=row["label"] or None,
                note=row["note"] or None,
                problem="" if is_turn or not turn else f"a turn_index that is no number: '{turn[:20]}'",
            )


def _check_rows(file: Path, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise UsageError(
            "the file has too many rows", where=file, expected=f"at most {_MOST_ROWS:,}", found=f"{rows:,} or more"
        )
