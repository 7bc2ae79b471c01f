"""Files of rows, read to the rows of tables and written back from them, without a database between."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec

from talkhouse.ingest import rows
from talkhouse.ingest.contract.validation import Validator
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.model import Declaration, DialogueFields, Files, Format, TurnFields
from talkhouse.ingest.declared.toml_corpus import declared_corpus
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
    return replace(Declaration("quay", "", "quay/corpus.toml", "Quay", of, (Files("**", 0),)), **usual | parts)


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

    def turns(self, dialogue_id: str) -> list[tuple[str, str]]:
        """Return the turns of a dialogue."""
        turns = [turn for turn in self.of(rows.Turn) if turn.dialogue_id == dialogue_id]
        return [(turn.role, turn.text) for turn in sorted(turns, key=lambda turn: turn.turn_index)]


def _place(file: SourceFile | None, pointer: str) -> str:
    return f"{file.name if file else ''}#{pointer}"


def read(declaration: Declaration, files: Mapping[str, bytes]) -> Read:
    """Read files by their names inside the corpus's folder, and check what every reader must keep to."""
    corpus = declared_corpus(declaration)
    result, validator = Read(corpus), Validator(corpus, rules_of(corpus))
    with TemporaryDirectory() as folder:
        for name, raw in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_bytes(raw)
        with opened(disk_files(Path(folder), declaration.corpus_id)) as (sources, _):
            for outcome in corpus.read(sources):
                _take(outcome, result, validator)
            for source in sources:
                if source.id in result.files:
                    result.files[source.id].note = BOM_NOTE if source.has_bom else None
    return result


def everything(result: Read) -> tuple[Any, ...]:
    """Return all that was made of files, to be compared."""
    tables = {kind.TABLE: Counter(map(msgspec.json.encode, result.of(kind))) for kind in rows.ROWS if result.of(kind)}
    findings = [(finding.rule, finding.detail, finding.pointer, finding.record_id) for finding in result.findings]
    rejected = [
        (item.rule, item.detail, item.location.pointer, item.location.native_id, item.raw) for item in result.rejected
    ]
    return tables, findings, rejected, {name: row.extra for name, row in result.files.items()}


def read_back(declaration: Declaration | str, files: Mapping[str, bytes]) -> Read:
    """Read files by a declaration, or its text, and write them back to the byte; of a .gz the content counts."""
    if isinstance(declaration, str):
        declaration = read_declaration("quay", declaration, "quay/corpus.toml")
    result = read(declaration, files)
    assert _unpacked(restored(result)) == _unpacked(files)
    return result


def _unpacked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: gzip.decompress(raw) if name.endswith(".gz") else raw for name, raw in files.items()}


def json_text(value: object) -> bytes:
    """Write JSON as it is written back."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def json_lines(*records: object) -> bytes:
    return b"".join(json_text(record) + b"\n" for record in records)


def _take(outcome: object, result: Read, validator: Validator) -> None:
    match outcome:
        case LoadedBatch():
            validator.many(outcome)
            _keep(outcome.rows, outcome.column_batches, result)
            result.findings += outcome.findings
        case Loaded():
            validator.record(outcome)
            _keep(outcome.rows, outcome.column_batches, result)
            result.findings += [outcome.location.finding(finding, "") for finding in outcome.findings]
        case Rejected():
            validator.location(outcome.location)
            result.rejected.append(outcome)
            _file(outcome.location.file, result)
        case FileEnvelope():
            _file(outcome.file, result).extra = dump(outcome.extra)
        case ReaderFinding():
            validator.rule(outcome.rule)
            result.findings.append(outcome)
        case Unrecognised():
            result.unrecognised.append(outcome)


def _keep(single: Iterable[rows.Row], batches: Iterable[rows.ColumnBatch], result: Read) -> None:
    by_kind = defaultdict[type[rows.Row], list[rows.Row]](list)
    for row in single:
        by_kind[type(row)].append(row)
    for kind, some in by_kind.items():
        frame(kind.TABLE, some)
        result.tables[kind] += some
    for batch in batches:
        laid_out = column_batch_frame(batch.kind.TABLE, [batch])
        result.tables[batch.kind] += [batch.kind(**row) for row in laid_out.iter_rows(named=True)]


def _file(file: SourceFile, result: Read) -> rows.FileRow:
    path = file.disk.stat.path
    row = rows.FileRow(file.id, "quay", path, None, "read", "", 0, datetime.now(UTC), None, None, 0, 0, 0, None, None)
    return result.files.setdefault(file.id, row)


def restored(result: Read) -> dict[str, bytes]:
    pieces = defaultdict[str, bytes](bytes)
    for path, piece in result.corpus.write(stored(result)):
        pieces[path] += piece
    for file in result.files.values():
        path = file.path.partition("/")[2]
        if file.note == BOM_NOTE and path in pieces:  # as ``restore.write_back`` does
            pieces[path] = BOM + pieces[path]
    return dict(pieces)


def stored(result: Read) -> Iterator[StoredRecord]:
    """Return all records as a writer gets them: file by file, the envelope first, in the order of their indexes."""
    by_file = defaultdict[str, list[tuple[int, StoredRecord]]](list)
    hanging = {
        kind: _by_key(result, kind) for kind in (rows.Dialogue, rows.Turn, rows.Annotation, rows.Candidate, rows.Part)
    }
    texts = {row.text_id: row.text for row in result.of(rows.CandidateText)}
    speakers = {row.speaker_id: row for row in result.of(rows.Speaker)}
    for record in result.of(rows.Record):
        key = record.dialogue_id or ""
        item = StoredRecord(
            result.files[record.source_file_id],
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
        by_file[record.source_file_id].append((record.record_index, item))
    for item in result.rejected:
        location = item.location
        item = StoredRecord(result.files[location.file.id], raw=item.raw, pointer=location.pointer)
        by_file[location.file.id].append((location.record_index or 0, item))
    for file_id, file in sorted(result.files.items()):
        if file.extra is not None:
            yield StoredRecord(file)
        yield from (record for _, record in sorted(by_file[file_id], key=lambda pair: pair[0]))


def _by_key(result: Read, kind: type[rows.Row]) -> defaultdict[str, list[Any]]:
    grouped = defaultdict[str, list[Any]](list)
    for row in result.tables[kind]:
        grouped[row.record_id if isinstance(row, rows.Annotation | rows.Candidate) else row.dialogue_id].append(row)
    return grouped
