"""The three task files and the two files of image addresses to rows: one record per dialogue of a file."""

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mpchat.dialogue import Dialogues, Parsed, People, parse, split_file
from talkhouse.ingest.corpora.mpchat.format import (
    CORPUS,
    IMAGE_FILES,
    SPLITS,
    TASK_FILES,
    ResponseDialogue,
    SourceDialogue,
    TaskFile,
)
from talkhouse.ingest.corpora.mpchat.persona_elements import PersonaElements
from talkhouse.ingest.corpora.mpchat.persona_lists import (
    Lists,
    annotations,
    candidate_batch,
    persona_lists,
    persona_use_batch,
    response_batch,
)
from talkhouse.ingest.corpora.mpchat.rejected_examples import answers_first, rejected_examples
from talkhouse.ingest.corpora.mpchat.warnings import dialogue_warnings, grouped
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFile, InputFiles
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    Loaded,
    Outcome,
    ReaderFinding,
    Rejected,
    SourceLocation,
    Unrecognised,
    reject,
)
from talkhouse.ingest.rows import ColumnBatch, Image, Record, Row
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord
from talkhouse.ingest.texts import Texts

_RELEASED = 100
"""Dialogues after which the memory of those that are done is given back."""


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    reader = _Reader()
    for file in files:
        yield from reader.file(file)


class _Reader:
    """Reads the files of one build; keeps keys and hashes of what it has yielded."""

    def __init__(self) -> None:
        self._files = InputFiles(CORPUS)
        self._people = People()
        self._dialogues = Dialogues(self._people)
        self._elements = PersonaElements(self._people)
        self._texts = Texts(CORPUS)

    def file(self, file: SourceFile) -> Iterator[Outcome]:
        """Read one file by its name."""
        if file.name in TASK_FILES:
            yield from self._task_file(file, TASK_FILES[file.name])
        elif file.name in IMAGE_FILES:
            yield from read_images(file, self._files)
        else:
            yield Unrecognised(file, f"none of {', '.join((*TASK_FILES, *IMAGE_FILES))}")

    def _task_file(self, file: SourceFile, task_file: TaskFile) -> Iterator[Outcome]:
        """Read every dialogue of a file, then what the file is beside them."""
        buffer = file.hold()
        location = SourceLocation(file, subset=task_file.subset, size=file.size)
        try:
            fields, splits = split_file(buffer.view)
        except BadRecord as bad:
            yield reject(location, bad, bytes(buffer.view))
            return
        input_file = self._files.take(location, task_file.subset)
        yield from input_file.findings("MP-13")
        unknown = {decode.pointer(name): Raw(bytes(fields[name])) for name in fields if name not in SPLITS}
        bytes_read = 0
        for split, pieces in splits.items():
            for index, piece in enumerate(pieces):
                file.check_record(len(memoryview(piece)), f"/{split}/{index}")
                raw = bytes(piece)
                bytes_read += len(raw)
                at = input_file.record_location(index, f"/{split}/{index}", len(raw), split=split)
                yield self._dialogue(input_file, at, task_file, raw)
                if index % _RELEASED == 0:
                    buffer.release(bytes_read)
        extra = {"fields": list(fields), "orders": list(self._elements.orders), "unknown": unknown}
        records = sum(map(len, splits.values()))
        yield FileEnvelope(file, {key: value for key, value in extra.items() if value}, records)

    def _dialogue(
        self, input_file: InputFile, location: SourceLocation, task_file: TaskFile, raw: bytes
    ) -> Loaded | Rejected:
        """Turn one dialogue into its record."""
        split = location.split or ""
        try:
            parsed = parse(raw, task_file, split)
            lists_in = list(persona_lists(task_file, parsed.dialogue))
            new = self._elements.decode_new(lists_in)
        except BadRecord as bad:
            return reject(location, bad, raw)
        rows: list[Row] = []
        findings = list(grouped(self._elements.add(new, rows)))
        for listed in lists_in:
            self._elements.fill_uses(listed)
        lists = {(listed.field.set_name, listed.turn_index): listed for listed in lists_in}
        record, more = self._record(input_file, location, parsed, rows)
        first = answers_first(parsed.dialogue, lists)
        column_batches = list(self._column_batches(record, parsed.dialogue, lists, first, rows))
        findings += dialogue_warnings(task_file, parsed.dialogue, split, lists)
        findings += rejected_examples(task_file, parsed.dialogue, split, lists, first)
        return Loaded(location, rows, findings + more, column_batches)

    def _record(
        self, input_file: InputFile, location: SourceLocation, parsed: Parsed, rows: list[Row]
    ) -> tuple[Record, list[ReaderFinding]]:
        """Add the row of a record, and those of its dialogue where that is new; returns what is unusual about that."""
        dialogue, split = parsed.dialogue, location.split or ""
        dialogue_id, findings = self._dialogues.add(dialogue, rows)
        record = location.record(
            f"{input_file.prefix}/{split}/{location.record_index}",
            dialogue_id,
            standard_split=SPLITS[split],
            main_speaker_id=self._people.id(dialogue.main_author, rows),
            extra={
                "fields": parsed.fields,
                "lists": parsed.empty,
                "differs": self._dialogues.differing(dialogue_id, dialogue),
                "unknown": parsed.unknown,
                "repeats": input_file.repeats,
            },
        )
        rows.append(record)
        return record, findings

    def _column_batches(
        self, record: Record, dialogue: SourceDialogue, lists: Lists, first: set[int], rows: list[Row]
    ) -> Iterator[ColumnBatch]:
        """Return the rows of all lists: long ones as column batches, labels and new texts among the other rows."""
        for (_, turn), one in lists.items():
            if one.field.is_candidates:
                yield candidate_batch(record, one, is_answer_first=turn in first)
            else:
                yield persona_use_batch(record, one)
            rows += annotations(record, one)
        if isinstance(dialogue, ResponseDialogue):
            for turn, texts in enumerate(dialogue.nrp_candidate_responses or ()):
                if texts:
                    ids = self._texts.ids(texts, rows)
                    yield response_batch(record, turn, ids, is_answer_first=turn in first)


def read_images(file: SourceFile, files: InputFiles) -> Iterator[Outcome]:
    """Turn one file into its record and images; a file that is not an object of texts is rejected."""
    subset = file.name.removesuffix(".json")
    location = SourceLocation(file, subset=subset, size=file.size)
    raw = file.read_record()
    try:
        urls = _urls(raw)
    except BadRecord as bad:
        yield reject(location, bad, raw)
        return
    input_file = files.take(location, subset)
    kind = IMAGE_FILES[file.name] + input_file.prefix.removeprefix(f"{CORPUS}/{subset}")
    rows: list[Row] = [location.record(input_file.prefix, extra={"repeats": input_file.repeats})]
    rows += (Image(CORPUS, kind, image_id, url, file.id, index) for index, (image_id, url) in enumerate(urls.items()))
    yield Loaded(location, rows, input_file.findings("MP-13"))


def _urls(raw: bytes) -> dict[str, str | None]:
    """Return the addresses by image; raises BadRecord: MP-01 where one is no text, or a common rule."""
    members = decode.record(raw, dict[str, Raw], rule="MP-01").value
    for image_id, address in members.items():
        try:
            decode.decoder(str | None).decode(address)
        except msgspec.ValidationError as error:
            raise BadRecord("MP-01", str(error), decode.pointer(image_id)) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(raw, error) from error
    return decode.record(raw, dict[str, str | None], rule="MP-01").value


def write_images(stored: StoredRecord) -> bytes:
    """Return the whole file."""
    return msgspec.json.encode({image.image_id: image.url for image in stored.images})
