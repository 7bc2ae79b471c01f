"""Groups' files to rows: one record and one dialogue per file, a turn per row."""

from collections.abc import Iterator, Sequence

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.delidata.dialogue import CORPUS, annotation_rows, dialogue_rows, opening, stated, turn_row
from talkhouse.ingest.corpora.delidata.format import LINE_END, Cells, Table, looks_like_a_table, parse, unquote
from talkhouse.ingest.corpora.delidata.warnings import Repetitions, warnings
from talkhouse.ingest.corpora.delidata.write import cells
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.file_per_dialogue import DialogueKeys, read_each
from talkhouse.ingest.outcomes import Loaded, Outcome, SourceLocation, Unrecognised
from talkhouse.ingest.restatements import Restatements
from talkhouse.ingest.rows import Annotation, Record, Row
from talkhouse.ingest.sources import SourceFile

SPLIT = "all"


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every group in path order."""
    return read_each(files, _locate, _Reader().group)


def _locate(file: SourceFile) -> SourceLocation:
    folders = file.path.parts[1:-1]
    return SourceLocation(file, subset=folders[-1] if folders else None, split=SPLIT, native_id=file.name)


class _Reader:
    """Reads one build's groups; keeps keys and hashes of what it has yielded, never texts."""

    def __init__(self) -> None:
        self._keys = DialogueKeys(CORPUS)
        self._restatements = Restatements()
        self._repetitions = Repetitions()
        self._files: dict[str, str] = {}

    def group(self, location: SourceLocation, content: bytes) -> Outcome:
        """Turn one file into its record; raises BadRecord (TH-02, DE-01, DE-02)."""
        if not looks_like_a_table(content):
            return Unrecognised(location.file, "its first line is not the header of a group's file, and has no tab")
        table = parse(decode.text(content), location.file.name)
        raw, rows = table.rows, [Cells(*map(unquote, row)) for row in table.rows]
        begun = opening(rows)
        utterances = ((row.message_type, row.origin, row.original_text) for row in rows)
        record, dialogue_id, is_new = self._keys.record(location, location.file.name, utterances)
        labels = [list(annotation_rows(record, index, row)) for index, row in enumerate(rows)]
        differs = _differs(record, table, rows, labels) | self._restatements.differing(dialogue_id, stated(raw))
        first = self._files.setdefault(location.file.sha256, record.record_id)
        repeats = first if first != record.record_id else None
        record.extra = decode.dump_extra({"differs": differs, "repeats": repeats} | _extra(table))
        made: list[Row] = [record]
        if is_new:
            made += dialogue_rows(dialogue_id, begun, rows, raw)
        made += (label for some in labels for label in some)
        findings = list(self._repetitions.findings(location.file.id, dialogue_id, rows))
        findings += (warning for index, row in enumerate(rows) for warning in warnings(index, row, raw[index]))
        return Loaded(location, made, findings)


def _differs(
    record: Record, table: Table, rows: Sequence[Cells], labels: Sequence[Sequence[Annotation]]
) -> dict[str, str]:
    """Collect the cells that the tables alone would spell in another way, by row and column."""
    differing = {}
    for index, (row, raw) in enumerate(zip(rows, table.rows, strict=True)):
        turn = turn_row(record.dialogue_id or "", index, row, raw)
        written = cells(record.native_id or "", turn, labels[index])
        for name, ours, theirs in zip(Cells._fields, written, raw, strict=True):
            if ours != theirs:
                differing[pointer(index, name)] = theirs
    return differing


def _extra(table: Table) -> dict[str, object]:
    """Collect what the rows do not say of a file, and nothing where it is as all are."""
    line_end = None if table.line_end == LINE_END else table.line_end
    return {"line_end": line_end, "lacks_final_newline": table.lacks_final_newline}
