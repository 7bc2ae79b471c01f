"""A reader that raises, or yields what no table takes: the corpus, the data file and the place, the code's line."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.loading.load_corpus import load_corpus
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    Loaded,
    LoadedBatch,
    Outcome,
    ReaderFinding,
    Rejected,
    SourceLocation,
)
from talkhouse.ingest.rows import (
    Annotation,
    ColumnBatch,
    Dialogue,
    Label,
    Part,
    Participant,
    Record,
    Row,
    Speaker,
    Turn,
    TurnSpeaker,
)
from talkhouse.ingest.sources import SourceFile
from talkhouse.schema.errors import CorpusFailed, SourceError
from tests.ingest.contract.test_definition import TOY

WORDS = ("one", "two", "three")
"""The lines of the file that every reader here reads: each is a record."""

Yields = Callable[[SourceLocation, list[Any]], object]
"""Makes an outcome of the second line, of which this is the location, from the rows that were right."""


def rows_of(location: SourceLocation, text: str) -> list[Any]:
    dialogue_id = f"toy:{location.record_index}"
    record = location.record(f"toy/{location.record_index}", dialogue_id, standard_split="train")
    speaker = Speaker.within(dialogue_id, "Ann")
    return [
        record,
        Dialogue(dialogue_id, "toy"),
        speaker,
        Participant(dialogue_id, speaker.speaker_id, "guest"),
        Turn(dialogue_id, 0, speaker.speaker_id, "guest", "message", text),
        record.annotation(0, "toy.mood", "+"),
    ]


def read(files: list[SourceFile], yields: Yields) -> Iterator[Any]:
    """Yield a record for each line, and for the second what a test wants."""
    for file in files:
        for index, text in enumerate(file.read().decode().splitlines()):
            location = SourceLocation(file, f"/{index}", split="training", record_index=index)
            rows = rows_of(location, text)
            yield yields(location, rows) if index == 1 else Loaded(location, rows)


def corpus_of(reader: Callable[[list[SourceFile]], Any]) -> Corpus:
    return replace(TOY, splits={"training": "train"}, read=reader, folder=Path(__file__).parent)


@pytest.fixture(scope="module")
def tables(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse that no load here changes, for each of them fails."""
    path = tmp_path_factory.mktemp("toy") / "w.duckdb"
    path.write_bytes(sample.read_bytes())
    with duckdb.connect(path) as con:
        yield con


Refusal = Callable[[Callable[[list[SourceFile]], Any]], str]


@pytest.fixture
def refusal(tables: duckdb.DuckDBPyConnection, tmp_path: Path) -> Refusal:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "lines.txt").write_text("".join(f"{word}\n" for word in WORDS), encoding="utf-8")

    def run(reader: Callable[[list[SourceFile]], Any]) -> str:
        before = tables.execute("select count(*) from main.records").fetchall()
        files = disk_files(tmp_path / "toy", "toy")
        with pytest.raises(CorpusFailed) as caught:
            load_corpus(tables.cursor, corpus_of(reader), files, lambda *_: None, is_sample=False)
        assert tables.execute("select count(*) from main.records").fetchall() == before
        assert caught.value.exit_code == 1
        return str(caught.value)

    return run


def changed(kind: type[Row], name: str, value: object) -> Yields:
    def make(location: SourceLocation, rows: list[Any]) -> Outcome:
        setattr(next(row for row in rows if type(row) is kind), name, value)
        return Loaded(location, rows)

    return make


def key_error(_: SourceLocation, __: list[Any]) -> Outcome:
    there: dict[str, Outcome] = {}
    return there["speaker"]


def test_an_exception_is_told_with_the_place_in_the_data_and_in_the_code(refusal: Refusal) -> None:
    message = refusal(partial(read, yields=key_error))
    line = key_error.__code__.co_firstlineno + 2
    assert message.splitlines() == [
        "toy/lines.txt#/1: the reader of 'toy' raised an exception; nothing of it was published",
        "  expected: every record loaded, or rejected with a rule (BadRecord)",
        f"  found:    KeyError: 'speaker', in {__file__}, line {line}, in key_error; the last record before it: "
        "toy/lines.txt#/0",
        "  next:     fix the reader, or report this message if it came with Talkhouse",
    ]


def opened(files: list[SourceFile]) -> Iterator[Outcome]:
    for file in files:
        file.read()
        Path("no such file").read_text(encoding="utf-8")
        yield FileEnvelope(file, {})


def nothing(_: list[SourceFile]) -> None:
    return None


def too_deep(files: list[SourceFile]) -> Iterator[Outcome]:
    return too_deep(files)


@pytest.mark.parametrize(
    ("reader", "where", "found"),
    [
        (opened, "toy/lines.txt", "FileNotFoundError: "),
        (nothing, "", "TypeError: 'NoneType' object is not iterable"),
        (too_deep, "", "RecursionError: maximum recursion depth exceeded"),
        (lambda _: iter(()), "toy/lines.txt", "none"),
    ],
)
def test_whatever_a_reader_does_is_told(refusal: Refusal, reader: Any, where: str, found: str) -> None:
    message = refusal(reader)
    assert message.startswith(f"{where}: the reader of 'toy' " if where else "the reader of 'toy' ")
    assert f"  found:    {found}" in message
    assert str(Path(__file__)) in message


def beside(row: Row) -> Yields:
    return lambda location, rows: Loaded(location, [*rows, row])


def batch(kind: type[Row], columns: dict[str, Any], shared: dict[str, Any] | None = None) -> Yields:
    return lambda location, rows: Loaded(location, rows, [], [ColumnBatch(kind, shared or {}, columns)])


LISTED = {"record_id": "toy/1", "scheme": "toy.mood", "turn_index": 0, "annotator_index": 0}


@pytest.mark.parametrize(
    ("yields", "words"),
    [
        (lambda *_: None, ["yields what is no outcome", "None"]),
        (lambda location, rows: Loaded(location, (row for row in rows)), ["Loaded.rows: list[Row]", "generator"]),
        (lambda location, rows: Loaded(rows, location), ["expected: Loaded.location: SourceLocation", "(list)"]),
        (lambda location, rows: Loaded(location, rows[1:]), ["one Record row in Loaded.rows"]),
        (
            lambda location, rows: Loaded(location, [*rows, {"text": "three"}]),
            ["yields what is no row", "Turn", "{'text'"],
        ),
        (lambda location, rows: Loaded(location, rows, ["odd"]), ["expected: Loaded.findings: list[", "'odd' (str)"]),
        (lambda location, rows: Loaded(location, rows, [ReaderFinding("TOY-1", "")]), ["one of: TOY-01", "'TOY-1'"]),
        (lambda location, _: Rejected(location, "TOY-01", "", "text"), ["Quarantined.raw: bytes", "'text' (str)"]),
        (
            lambda location, _: Rejected(replace(location, split="tset"), "TOY-01", "", b""),
            ["one of: training", "tset"],
        ),
        (lambda location, _: FileEnvelope(location.file, {"a": object()}), ["raised an exception", "TypeError"]),
        (lambda location, _: FileEnvelope(location.file, {}, "3"), ["FileRow.records_in: a whole number", "'3' (str)"]),
        (beside(Label("toy.mod", "+")), ["a Label with a scheme that is not declared"]),
        (beside(Label("toy.mood", "+", 3)), ["Label.meaning: a text"]),  # type: ignore[arg-type]
        (beside(Part("toy:1", 0, 0, "content", "image")), ["a Part with a kind that is not declared"]),
        (beside(Part("toy:2", 0, 0, "content", "text")), ["Part.dialogue_id 'toy:1'"]),
        (beside(Part("toy:1", 0, 0, "content", "tool_call", arguments="{")), ["Part.arguments: a text that is JSON"]),
        (beside(TurnSpeaker("toy:2", 0, 0, "toy:1/Ann")), ["TurnSpeaker.dialogue_id 'toy:1'"]),
        (beside(Label("toy.mood", None)), ["Label.label: a text, never None"]),  # type: ignore[arg-type]
        (batch(Annotation, {"item_index": [1, "2"]}, LISTED), ["Annotation.item_index: a whole number", "'2' (str)"]),
        (batch(Annotation, {"item_index": [1, 2]}, {**LISTED, "scheme": None}), ["Annotation.scheme: a text, never"]),
        (batch(Annotation, {"item_idx": [1, 2]}, LISTED), ["one of: item_index", "'item_idx'"]),
        (batch(Annotation, {"item_index": [1]}, {**LISTED, "scheem": "x"}), ["one of: scheme", "'scheem'"]),
        (batch(Annotation, {"item_index": [1, 2], "label": ["+"]}, LISTED), ["columns of one length"]),
        (batch(Annotation, {"item_index": [1]}, {**LISTED, "record_id": "toy/0"}), ["expected: toy/1", "toy/0"]),
        (batch(Annotation, {"item_index": [1], "extra": ["{"]}, LISTED), ["Annotation.extra: a text that is JSON"]),
        (batch(Label, {"label": ["a", "b"]}, {"scheme": "toy.mood"}), ["ColumnBatch of no row class"]),
        (batch(dict, {"a": [1]}), ["ColumnBatch of no row class"]),  # type: ignore[type-var, arg-type]
        (lambda location, rows: LoadedBatch(location.file, 2, 1, rows[:1], [], []), ["2 Record rows", "found:    1"]),
    ],
)
def test_what_is_no_outcome_row_or_batch_is_told(refusal: Refusal, yields: Yields, words: list[str]) -> None:
    message = refusal(partial(read, yields=yields))
    assert re.search(r"^toy[/:.]|toy/lines\.txt", message), message
    assert not [word for word in words if word not in message], message


@pytest.mark.parametrize(
    ("kind", "name", "value", "expected"),
    [
        (Turn, "text", 3, "a text"),
        (Turn, "text", None, "a text, never None"),
        (Turn, "text", b"two", "a text"),
        (Turn, "text", "\ud800", "a text without halves of surrogate pairs"),
        (Turn, "said_at", 1_700_000_000, "a datetime without a time zone"),
        (Turn, "said_at", "2026-01-01", "a datetime without a time zone"),
        (Turn, "said_at", datetime(2026, 1, 1, tzinfo=UTC), "a datetime without a time zone"),
        (Turn, "extra", {"mood": "+"}, "a text that is JSON"),
        (Turn, "extra", "{mood: +}", "a text that is JSON"),
        (Turn, "speaker_id", 7, "a text"),
        (Speaker, "is_anonymous", "yes", "True or False"),
        (Annotation, "annotator_index", True, "a whole number"),
        (Annotation, "annotator_index", 2**40, "a whole number"),
        (Annotation, "value", "0.5", "a number"),
        (Dialogue, "title", ["a", "b"], "a text"),
    ],
)
def test_a_value_of_another_type_is_told_with_class_field_and_record(
    refusal: Refusal, kind: type[Row], name: str, value: object, expected: str
) -> None:
    message = refusal(partial(read, yields=changed(kind, name, value)))
    assert re.match(r"toy[/:]1(/Ann)?: ", message), message
    assert f"yields a row of class {kind.__name__} with a wrong {name}" in message
    assert f"expected: {kind.__name__}.{name}: {expected}" in message
    assert f"{value!r} ({type(value).__name__}) in the row with " in message


@pytest.mark.parametrize(
    ("kind", "name", "value", "words"),
    [
        (Turn, "dialogue_id", "toy:7", "Turn.dialogue_id 'toy:1'"),
        (Turn, "dialogue_id", None, "Turn.dialogue_id 'toy:1'"),
        (Turn, "turn_index", 3, "Turn.turn_index 0"),
        (Participant, "dialogue_id", "toy:0", "Participant.dialogue_id 'toy:1'"),
        (Annotation, "record_id", "toy/0", "Annotation.record_id 'toy/1'"),
        (Annotation, "scheme", "toy.mod", "one of: toy.mood"),
        (Speaker, "kind", "humen", "one of: human"),
        (Speaker, "corpus_id", "tea", "Speaker.corpus_id 'toy'"),
        (Record, "record_id", None, "Record.record_id that begins with 'toy/'"),
        (Record, "record_id", "tea/1", "Record.record_id that begins with 'toy/'"),
        (Record, "dialogue_id", 7, "Record.dialogue_id that begins with 'toy:'"),
        (Record, "split", "trainig", "one of: training"),
        (Record, "standard_split", None, "Record.standard_split 'train' for the split 'training', as declared"),
        (Record, "source_pointer", "/2", "Record.source_file_id and source_pointer ('toy/lines.txt', '/1')"),
    ],
)
def test_a_row_of_something_else_is_told(
    refusal: Refusal, kind: type[Row], name: str, value: object, words: str
) -> None:
    message = refusal(partial(read, yields=changed(kind, name, value)))
    assert message.startswith("toy/lines.txt#/1: the reader of 'toy' ")
    assert words in message
    assert repr(value) in message


def test_what_is_not_the_readers_fault_is_told_as_before(tables: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    path = tmp_path / "toy" / "lines.txt"
    path.write_text("one\n", encoding="utf-8")
    files = disk_files(tmp_path / "toy", "toy")
    path.unlink()
    corpus = corpus_of(partial(read, yields=key_error))
    with pytest.raises(SourceError, match="the file can't be read"):
        load_corpus(tables.cursor, corpus, files, lambda *_: None, is_sample=False)
