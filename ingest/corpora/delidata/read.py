"""Groups' files to rows: one record and one dialogue per file, a turn per row."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.delidata import format as layout
from talkhouse.ingest.corpora.delidata.write import cells
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import DialogueKeys, read_each
from talkhouse.ingest.keys import Restatements
from talkhouse.ingest.outcomes import Loaded, Outcome, ReaderFinding, SourceLocation, Unrecognised
from talkhouse.ingest.rows import Annotation, Dialogue, Participant, Record, Row, Speaker, Turn
from talkhouse.ingest.sources import SourceFile

SPLIT = "all"


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every group in path order."""
    return read_each(files, _locate, GroupReader().group)


def _locate(file: SourceFile) -> SourceLocation:
    folders = file.path.parts[1:-1]
    return SourceLocation(file, subset=folders[-1] if folders else None, split=SPLIT, native_id=file.name)


class GroupReader:
    """Reads one build's groups; keeps keys and hashes of what it has yielded, never texts."""

    def __init__(self) -> None:
        self._keys = DialogueKeys(layout.CORPUS)
        self._restatements = Restatements()
        self._repetitions = Repetitions()
        self._files: dict[str, str] = {}

    def group(self, location: SourceLocation, content: bytes) -> Outcome:
        """Turn one file into its record; raises BadRecord (TH-02, DE-01, DE-02)."""
        if not layout.looks_like_a_table(content):
            return Unrecognised(location.file, "its first line is not the header of a group's file, and has no tab")
        table = layout.parse(decode.text(content), location.file.name)
        raw, rows = table.cells, [layout.GroupRow(*map(layout.unquote, row)) for row in table.rows]
        begun = opening(rows)
        utterances = ((row.message_type, row.origin, row.original_text) for row in rows)
        record, dialogue_id, is_new = self._keys.record(location, location.file.name, utterances)
        labels = [list(annotation_rows(record, index, row)) for index, row in enumerate(rows)]
        differs = {} if table.unusual else _differs(record, table, rows, labels)
        differs |= self._restatements.differing(dialogue_id, stated(raw))
        first = self._files.setdefault(location.file.sha256, record.record_id)
        repeats = first if first != record.record_id else None
        record.extra = decode.dump_extra({"differs": differs, "repeats": repeats} | _extra(table, content))
        loaded: list[Row] = [record]
        if is_new:
            loaded += dialogue_rows(dialogue_id, begun, rows, raw)
        loaded += (label for some in labels for label in some)
        findings = list(self._repetitions.findings(location.file.id, dialogue_id, rows))
        findings += (warning for index, row in enumerate(rows) for warning in warnings(index, row, table.rows[index]))
        findings += (ReaderFinding("DE-10", what, pointer=pointer(row)) for what, row in table.unusual.items())
        return Loaded(location, loaded, findings)


def _differs(
    record: Record, table: layout.GroupFile, rows: Sequence[layout.GroupRow], labels: Sequence[Sequence[Annotation]]
) -> dict[str, str]:
    """Collect the cells that the tables alone would spell in another way, by row and column."""
    differing = {}
    for index, (row, raw) in enumerate(zip(rows, table.rows, strict=True)):
        turn = turn_row(record.dialogue_id or "", index, row, raw)
        written = cells(record.native_id or "", turn, labels[index])
        for name, own, published in zip(layout.GroupRow._fields, written, raw, strict=True):
            if own != published:
                differing[pointer(index, name)] = published
    return differing


def _extra(table: layout.GroupFile, content: bytes) -> dict[str, object]:
    """Collect what the rows do not say of a file, and nothing where it is as all are."""
    if table.unusual:
        return {"published": content.decode()}
    line_end = None if table.line_end == layout.LINE_END else table.line_end
    return {"line_end": line_end, "lacks_final_newline": table.lacks_final_newline}


CARDS = 4
"""Cards on the table of every group."""

TEXTS = ("original_text", "clean_text")


class Opening(NamedTuple):
    """What the INITIAL row says: who takes part, in published order, and the cards."""

    names: list[str]
    cards: list[str]


def opening(rows: Sequence[layout.GroupRow]) -> Opening:
    """Read row 0; raises BadRecord (DE-02) where a group does not open as all do."""
    first = rows[0] if rows else None
    if first is None or (first.message_type, first.origin, first.message_id) != (
        "INITIAL",
        layout.SYSTEM,
        layout.OPENING_ID,
    ):
        raise BadRecord("DE-02", "row 0 is not INITIAL by SYSTEM with the message_id -1", pointer(0))
    again = next((index for index, row in enumerate(rows) if index and row.message_type == "INITIAL"), None)
    if again is not None:
        raise BadRecord("DE-02", "a second INITIAL row", pointer(again))
    names, *cards = first.original_text.split("&&")
    if len(cards) != 1 or len(cards[0].split(",")) != CARDS:
        detail = f"not 'names&&cards' with {CARDS} cards: {first.original_text[:200]!r}"
        raise BadRecord("DE-02", detail, pointer(0, "original_text"))
    return Opening([name for name in dict.fromkeys(names.split(",")) if name], cards[0].split(","))


def dialogue_rows(
    dialogue_id: str, begun: Opening, rows: Sequence[layout.GroupRow], raw: Sequence[layout.GroupRow]
) -> Iterator[Row]:
    """List the dialogue, everyone who is named or speaks, and the turns; only those named are participants."""
    yield Dialogue(
        dialogue_id, layout.CORPUS, rows[0].group_id, language="en", extra=decode.dump({"cards": begun.cards})
    )
    for name in dict.fromkeys([*begun.names, *(row.origin for row in rows)]):
        yield Speaker.within(dialogue_id, name, kind="system" if name == layout.SYSTEM else "human")
    for name in begun.names:
        yield Participant(dialogue_id, f"{dialogue_id}/{name}", _role(name))
    for index, row in enumerate(rows):
        yield turn_row(dialogue_id, index, row, raw[index])


def stated(raw: Sequence[layout.GroupRow]) -> dict[str, str]:
    """Collect the cells that the tables of the dialogue hold, besides those that make it another dialogue."""
    columns = ("message_id", *TEXTS)
    return {pointer(index, name): getattr(row, name) for index, row in enumerate(raw) for name in columns}


def _role(alias: str) -> str:
    return "system" if alias == layout.SYSTEM else "participant"


def turn_row(dialogue_id: str, index: int, row: layout.GroupRow, raw: layout.GroupRow) -> Turn:
    """Make one turn; ``extra.cells`` has a published cell where quoting its text does not give it back."""
    extra: dict[str, Any] = {"clean_text": row.clean_text} if row.clean_text else {}
    if row.message_type not in layout.KINDS:
        extra["message_type"] = row.message_type
    cells = {name: getattr(raw, name) for name in TEXTS if layout.quote(getattr(row, name)) != getattr(raw, name)}
    if cells:
        extra["cells"] = cells
    return Turn(
        dialogue_id=dialogue_id,
        turn_index=index,
        speaker_id=f"{dialogue_id}/{row.origin}",
        role=_role(row.origin),
        kind=layout.KINDS.get(row.message_type, "other"),
        text=row.original_text,
        native_id=row.message_id,
        extra=decode.dump(extra),
    )


def annotation_rows(record: Record, index: int, row: layout.GroupRow) -> Iterator[Annotation]:
    """List every annotation of one row; an empty cell is none, ``None`` and ``0`` are labels as published."""
    additional = "" if row.annotation_additional == layout.NO_ITEMS else row.annotation_additional
    for scheme, labels in (
        (layout.TYPE, [row.annotation_type] if row.annotation_type else []),
        (layout.TARGET, [row.annotation_target] if row.annotation_target else []),
        (layout.ADDITIONAL, _items(additional)),
        (layout.SOLUTION, _items(row.sol_tracker_message)),
    ):
        for item, label in enumerate(labels):
            yield record.annotation(index, scheme, label, item_index=item)
    for scheme, cell in (
        (layout.TEAM_PERFORMANCE, row.team_performance),
        (layout.PERFORMANCE_CHANGE, row.performance_change),
    ):
        if (value := layout.number(cell)) is not None:
            yield record.annotation(index, scheme, None, value)
    for position, (user, cards) in enumerate((layout.tracker(row.sol_tracker_all) or {}).items()):
        for item, card in enumerate(_tracked(cards)):
            yield record.annotation(
                index, layout.TRACKER, card, annotator_index=position, annotator_id=user, item_index=item
            )


def _items(cell: str) -> list[str]:
    return cell.split(",") if cell else []


def _tracked(cards: list[str]) -> list[str | None]:
    """List one user's labels: the cards, ``N/A`` for its letters in any order, and null for an empty list."""
    if sorted(cards) == sorted(layout.NO_SOLUTION):
        return [layout.NO_SOLUTION]
    return [*cards] or [None]


TARGETS = {
    "Probing": {"Moderation", "Reasoning", "Solution"},
    "Non-probing-deliberation": {"Reasoning", "Solution", "Agree", "Disagree"},
    "None": {"0"},
    "0": {"0"},
}
"""Annotation types, and the targets that go with each; None and 0 both say that a message is no deliberation."""

ADDITIONAL_LABELS = {
    "complete_solution",
    "partial_solution",
    "specific_addressee",
    "solution_summary",
    "consider_opposite",
}


class Repetitions:
    """Groups and messages of a build that came before (DE-03); the first in path order makes the examples."""

    def __init__(self) -> None:
        self._groups: dict[str, str] = {}
        self._messages: dict[str, str] = {}

    def findings(self, file_id: str, dialogue_id: str, rows: Sequence[layout.GroupRow]) -> Iterator[ReaderFinding]:
        """Report a group that came before, or single messages that did."""
        group_id = rows[0].group_id
        before = self._groups.setdefault(group_id, file_id)
        if before == file_id:
            yield from self._messages_before(file_id, rows)
            return
        words = "the same words," if dialogue_id == f"{layout.CORPUS}:{group_id}" else "other words, kept as"
        yield ReaderFinding("DE-03", f"the group came before, from {before}: {words} {dialogue_id}", pointer="")

    def _messages_before(self, file_id: str, rows: Sequence[layout.GroupRow]) -> Iterator[ReaderFinding]:
        for index, row in enumerate(rows):
            where = f"{file_id}{pointer(index)}"
            first = self._messages.setdefault(row.message_id, where)
            if first != where and row.message_id != layout.OPENING_ID:
                detail = f"the message_id {row.message_id} came before, at {first}"
                yield ReaderFinding("DE-03", detail, pointer=pointer(index, "message_id"), turn_index=index)


class CellWarning(NamedTuple):
    """Something unusual about a cell of a row."""

    rule: str
    column: str
    detail: str


def warnings(index: int, row: layout.GroupRow, raw: layout.GroupRow) -> Iterator[ReaderFinding]:
    """List the findings of one row."""
    unusual = [*_numbers(row), *_values(row), *_spellings(row, raw)]
    if row.message_type not in layout.KINDS:
        unusual.insert(0, CellWarning("DE-03", "message_type", f"unknown message_type {row.message_type!r}"))
    for rule, column, detail in unusual:
        yield ReaderFinding(rule, detail, pointer=pointer(index, column), turn_index=index)


def _numbers(row: layout.GroupRow) -> Iterator[CellWarning]:
    """DE-04: what tracker and performance can't be."""
    if layout.tracker(row.sol_tracker_all) is None:
        yield CellWarning(
            "DE-04", "sol_tracker_all", f"no JSON object of lists of cards: {row.sol_tracker_all[:200]!r}"
        )
    for column, lowest in (("team_performance", 0.0), ("performance_change", -1.0)):
        value = layout.number(getattr(row, column))
        if value is None or not lowest <= value <= 1.0:
            yield CellWarning("DE-04", column, f"no number from {lowest:g} to 1: {getattr(row, column)[:200]!r}")


def _values(row: layout.GroupRow) -> Iterator[CellWarning]:
    """DE-08: annotations that the documentation does not know; those of a SUBMIT are DE-07's."""
    if row.message_type != "MESSAGE":
        return
    kind, target = row.annotation_type, row.annotation_target
    if kind not in TARGETS:
        yield CellWarning("DE-08", "annotation_type", f"unknown type {kind!r}")
    elif target not in TARGETS[kind]:
        yield CellWarning("DE-08", "annotation_target", f"the target {target!r} does not go with the type {kind!r}")
    items = row.annotation_additional.split(",")
    if items != [layout.NO_ITEMS] and (unknown := [item for item in items if item not in ADDITIONAL_LABELS]):
        yield CellWarning("DE-08", "annotation_additional", f"unknown items {unknown}")


def _spellings(row: layout.GroupRow, raw: layout.GroupRow) -> Iterator[CellWarning]:
    """DE-09: quotes that the publisher's writer would not leave so, and messages without words."""
    for column, cell in raw._asdict().items():
        if layout.is_quoted(cell):
            if "'" in cell[1:-1].replace("''", ""):
                yield CellWarning("DE-09", column, f"a single quote inside a quoted cell: {cell[:200]!r}")
        elif cell.startswith("'") or cell.endswith("'"):
            yield CellWarning("DE-09", column, f"a quote at one end only: {cell[:200]!r}")
        if cell.lstrip(" ").startswith('"'):
            yield CellWarning(
                "DE-09", column, f"begins with a quote that the reference readers take for their own: {cell[:200]!r}"
            )
    if row.message_type == "MESSAGE" and not row.original_text:
        yield CellWarning("DE-09", "original_text", "a MESSAGE without text")
