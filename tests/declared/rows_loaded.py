"""Files of rows, read to the rows of tables and written back from them, without a database between."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from talkhouse.ingest import rows
from talkhouse.ingest.contract.outcomes import Validator
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.declared.corpus import declared_corpus
from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import Declaration, DialogueFields, Files, Format, TurnFields
from talkhouse.ingest.decode import dump
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.loading.batches import column_batch_frame, frame
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, LoadedBatch, ReaderFinding, Rejected, Unrecognised
from talkhouse.ingest.registry import rules_of
from talkhouse.ingest.sources import BOM, BOM_NOTE, SourceFile, opened
from talkhouse.ingest.stored_record import StoredRecord

R = TypeVar("R", bound=rows.Row)


def declared(of: Format = "turns", **parts: Any) -> Declaration:
    """Declare a corpus of rows: all files, dialogues by ``d``, texts in ``text``; ``parts`` are other fields."""
    usual: dict[str, Any] = {"dialogue": DialogueFields(id=("d",)), "turn": TurnFields(text=("text",))}
    everything = (Files("**", 0),)
    return replace(Declaration("quay", "", "quay/corpus.toml", "Quay", of, everything), **usual | parts)


@dataclass
class Read:
    """What became of files."""

    corpus: Corpus
    tables: defaultdict[type[rows.Row], list[Any]] = field(default_factory=lambda: defaultdict(list))
    findings: list[ReaderFinding] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    unrecognised: list[Unrecognised] = field(default_factory=list)
    files: dict[str, rows.FileRow] = field(default_factory=dict)

    def of(self, kind: type[R]) -> list[R]:
        """Return the rows of a table."""
        return self.tables[kind]

    @property
    def places(self) -> list[tuple[str, str]]:
        """Return rule and place of each finding, in order, those of refused records last."""
        places = [(finding.rule, _place(finding.file, finding.pointer or "")) for finding in self.findings]
        return places + [
            (item.rule, _place(item.location.file, item.location.pointer + item.at)) for item in self.rejected
        ]

    def said(self, dialogue_id: str) -> list[tuple[str, str]]:
        """Return the turns of a dialogue."""
        turns = [turn for turn in self.of(rows.Turn) if turn.dialogue_id == dialogue_id]
        return [(turn.role, turn.text) for turn in sorted(turns, key=lambda turn: turn.turn_index)]


def _place(file: SourceFile | None, pointer: str) -> str:
    return f"{file.name if file else ''}#{pointer}"


def read(declaration: Declaration, files: Mapping[str, bytes]) -> Read:
    """Read files by their names inside the corpus's folder, and check what every reader must keep to."""
    corpus = declared_corpus(declaration)
    made, validator = Read(corpus), Validator(corpus, rules_of(corpus))
    with TemporaryDirectory() as folder:
        for name, raw in files.items():
            (Path(folder) / name).write_bytes(raw)
        with opened(disk_files(Path(folder), declaration.corpus_id)) as (sources, _):
            for outcome in corpus.read(sources):
                _take(outcome, made, validator)
            for source in sources:
                if source.id in made.files:
                    made.files[source.id].note = BOM_NOTE if source.has_bom else None
    return made


def read_back(declaration: Declaration | str, files: Mapping[str, bytes]) -> Read:
    """Read files by a declaration, or its text, and write them back to the byte; of a .gz the content counts."""
    if isinstance(declaration, str):
        declaration = read_declaration("quay", declaration, "quay/corpus.toml")
    made = read(declaration, files)
    assert _unpacked(restored(made)) == _unpacked(files)
    return made


def _unpacked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: gzip.decompress(raw) if name.endswith(".gz") else raw for name, raw in files.items()}


def json_text(value: object) -> bytes:
    """Write JSON as it is written back."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def json_lines(*records: object) -> bytes:
    return b"".join(json_text(record) + b"\n" for record in records)


def _take(outcome: object, made: Read, validator: Validator) -> None:
    match outcome:
        case LoadedBatch():
            validator.many(outcome)
            _keep(outcome.rows, outcome.column_batches, made)
            made.findings += outcome.findings
        case Loaded():
            validator.record(outcome)
            _keep(outcome.rows, outcome.column_batches, made)
            made.findings += [outcome.location.finding(finding, "") for finding in outcome.findings]
        case Rejected():
            validator.location(outcome.location)
            made.rejected.append(outcome)
            _file(outcome.location.file, made)
        case FileEnvelope():
            _file(outcome.file, made).extra = dump(outcome.extra)
        case ReaderFinding():
            validator.rule(outcome.rule)
            made.findings.append(outcome)
        case Unrecognised():
            made.unrecognised.append(outcome)


def _keep(single: Iterable[rows.Row], batches: Iterable[rows.ColumnBatch], made: Read) -> None:
    by_kind = defaultdict[type[rows.Row], list[rows.Row]](list)
    for row in single:
        by_kind[type(row)].append(row)
    for kind, some in by_kind.items():
        frame(kind.TABLE, some)
        made.tables[kind] += some
    for batch in batches:
        laid_out = column_batch_frame(batch.kind.TABLE, [batch])
        made.tables[batch.kind] += [batch.kind(**row) for row in laid_out.iter_rows(named=True)]


def _file(file: SourceFile, made: Read) -> rows.FileRow:
    path = file.disk.stat.path
    row = rows.FileRow(file.id, "quay", path, None, "read", "", 0, datetime.now(UTC), None, None, 0, 0, 0, None, None)
    return made.files.setdefault(file.id, row)


def restored(made: Read) -> dict[str, bytes]:
    pieces = defaultdict[str, bytes](bytes)
    for path, piece in made.corpus.write(stored(made)):
        pieces[path] += piece
    for file in made.files.values():
        path = file.path.partition("/")[2]
        if file.note == BOM_NOTE and path in pieces:  # as ``restore.write_back`` does
            pieces[path] = BOM + pieces[path]
    return dict(pieces)


def stored(made: Read) -> Iterator[StoredRecord]:
    """Return all records as a writer gets them: file by file, the envelope first, in the order of their indexes."""
    by_file = defaultdict[str, list[tuple[int, StoredRecord]]](list)
    hanging = {
        kind: _by_key(made, kind) for kind in (rows.Dialogue, rows.Turn, rows.Annotation, rows.Candidate, rows.Part)
    }
    texts = {row.text_id: row.text for row in made.of(rows.CandidateText)}
    speakers = {row.speaker_id: row for row in made.of(rows.Speaker)}
    for record in made.of(rows.Record):
        key = record.dialogue_id or ""
        one = StoredRecord(
            made.files[record.source_file_id],
            record,
            pointer=record.source_pointer,
            dialogue=next(iter(hanging[rows.Dialogue][key]), None),
            speakers=speakers,
            turns=sorted(hanging[rows.Turn][key], key=lambda turn: turn.turn_index),
            parts=hanging[rows.Part][key],
            annotations=hanging[rows.Annotation][record.record_id],
            candidates=sorted(
                hanging[rows.Candidate][record.record_id], key=lambda row: (row.position, row.item_index)
            ),
            texts=texts,
        )
        by_file[record.source_file_id].append((record.record_index, one))
    for item in made.rejected:
        location = item.location
        one = StoredRecord(made.files[location.file.id], raw=item.raw, pointer=location.pointer)
        by_file[location.file.id].append((location.record_index or 0, one))
    for file_id, file in sorted(made.files.items()):
        if file.extra is not None:
            yield StoredRecord(file)
        yield from (one for _, one in sorted(by_file[file_id], key=lambda pair: pair[0]))


def _by_key(made: Read, kind: type[rows.Row]) -> defaultdict[str, list[Any]]:
    grouped = defaultdict[str, list[Any]](list)
    for row in made.tables[kind]:
        is_of_record = isinstance(row, rows.Annotation | rows.Candidate)
        grouped[row.record_id if is_of_record else row.dialogue_id].append(row)
    return grouped
