"""Files to rows: a record, and a dialogue, for each run of rows of one exchange."""

from collections.abc import Iterator
from itertools import groupby

from talkhouse.corpus import (
    BadRecord,
    Dialogue,
    DialogueKeys,
    FileEnvelope,
    InputFile,
    InputFiles,
    Loaded,
    Outcome,
    Row,
    SourceFile,
    SourceLocation,
    Unrecognised,
    decode,
    people_and_turns,
    reject,
)

from .format import COLUMNS, SPLITS, TONES, rows_in, written


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    input_files, keys = InputFiles("penpals"), DialogueKeys("penpals")
    for file in files:
        split = file.path.stem
        if file.path.suffix != ".csv" or split not in SPLITS:
            yield Unrecognised(file, "its name is not <split>.csv")
            continue
        location = SourceLocation(file, split=split, size=file.size)
        input_file = input_files.take(location, split)
        yield from input_file.findings("PENPALS-03")
        raw = file.read()
        try:
            yield from exchanges(input_file, raw, keys)
        except BadRecord as bad:
            input_files.drop(input_file)
            yield reject(location, bad, raw)


def exchanges(input_file: InputFile, raw: bytes, keys: DialogueKeys) -> Iterator[Outcome]:
    """Read the exchanges of a file; BadRecord where it can't be written back, or nobody knows whose a row is."""
    header, *rows = rows_in(decode.text(raw)) or [[]]
    if header != COLUMNS or written([header, *rows]) != raw or any(len(row) != len(COLUMNS) for row in rows):
        raise BadRecord("PENPALS-01", f"not the columns {', '.join(COLUMNS)}, or quoted in another way", "/0")
    runs = [(native, list(run)) for native, run in groupby(rows, key=lambda row: row[0])]
    if len(dict(runs)) < len(runs):
        raise BadRecord("PENPALS-01", "the rows of an exchange don't follow one another")
    yield FileEnvelope(input_file.file, {"columns": COLUMNS}, len(runs))
    for index, (native, run) in enumerate(runs):
        text = written(run)
        location = input_file.record_location(index, decode.pointer(native), len(text))
        try:
            yield Loaded(location, rows_of(input_file, location, keys, native, run))
        except BadRecord as bad:
            yield reject(location, bad, text)


def rows_of(
    input_file: InputFile, location: SourceLocation, keys: DialogueKeys, native: str, run: list[list[str]]
) -> list[Row]:
    """Make the rows of an exchange; it is the same as another where all that is said is."""
    for index, (*_, tone) in enumerate(run):
        if tone and tone not in TONES:
            raise BadRecord("PENPALS-02", f"the tone {tone!r} of letter {index} is none of {', '.join(TONES)}")
    texts = [(by, text) for _, by, text, _ in run]
    path = f"{input_file.kind}/{native}"
    record, dialogue_id, is_new = keys.record(
        location, native, texts, path=path, standard_split=SPLITS[location.split or ""]
    )
    record.native_id = native
    record.extra = decode.dump_extra({"repeats": input_file.repeats})
    rows: list[Row] = [record]
    if is_new:
        rows.append(Dialogue(dialogue_id, "penpals", native_id=native, language="en"))
        rows += people_and_turns(dialogue_id, texts, role="writer")
    rows += (record.annotation(index, "penpals.tone", tone) for index, (*_, tone) in enumerate(run) if tone)
    return rows
