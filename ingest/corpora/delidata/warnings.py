"""What is unusual about a group that is loaded all the same: rules DE-03, DE-04, DE-08 and DE-09."""

from collections.abc import Iterator, Sequence

from talkhouse.ingest.corpora.delidata.format import (
    CORPUS,
    KINDS,
    NO_ITEMS,
    OPENING_ID,
    GroupRow,
    is_quoted,
    number,
    tracker,
)
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding

TARGETS = {
    "Probing": {"Moderation", "Reasoning", "Solution"},
    "Non-probing-deliberation": {"Reasoning", "Solution", "Agree", "Disagree"},
    "None": {"0"},
    "0": {"0"},
}
"""Annotation types, and the targets that go with each; None and 0 both say that a message is no deliberation."""

ADDITIONAL = {"complete_solution", "partial_solution", "specific_addressee", "solution_summary", "consider_opposite"}


class Repetitions:
    """Groups and messages of a build that came before (DE-03); the first in path order makes the examples."""

    def __init__(self) -> None:
        self._groups: dict[str, str] = {}
        self._messages: dict[str, str] = {}

    def findings(self, file_id: str, dialogue_id: str, rows: Sequence[GroupRow]) -> Iterator[ReaderFinding]:
        """Report a group that came before, or single messages that did."""
        group_id = rows[0].group_id
        before = self._groups.setdefault(group_id, file_id)
        if before == file_id:
            yield from self._messages_before(file_id, rows)
            return
        words = "the same words," if dialogue_id == f"{CORPUS}:{group_id}" else "other words, kept as"
        yield ReaderFinding("DE-03", f"the group came before, from {before}: {words} {dialogue_id}", pointer="")

    def _messages_before(self, file_id: str, rows: Sequence[GroupRow]) -> Iterator[ReaderFinding]:
        for index, row in enumerate(rows):
            where = f"{file_id}{pointer(index)}"
            first = self._messages.setdefault(row.message_id, where)
            if first != where and row.message_id != OPENING_ID:
                detail = f"the message_id {row.message_id} came before, at {first}"
                yield ReaderFinding("DE-03", detail, pointer=pointer(index, "message_id"), turn_index=index)


def warnings(index: int, row: GroupRow, raw: GroupRow) -> Iterator[ReaderFinding]:
    """List the findings of one row."""

    def finding(rule: str, column: str, detail: str) -> ReaderFinding:
        return ReaderFinding(rule, detail, pointer=pointer(index, column), turn_index=index)

    if row.message_type not in KINDS:
        yield finding("DE-03", "message_type", f"unknown message_type {row.message_type!r}")
    for rule, column, detail in (*_numbers(row), *_values(row), *_spellings(row, raw)):
        yield finding(rule, column, detail)


def _numbers(row: GroupRow) -> Iterator[tuple[str, str, str]]:
    """DE-04: what tracker and performance can't be."""
    if tracker(row.sol_tracker_all) is None:
        yield "DE-04", "sol_tracker_all", f"no JSON object of lists of cards: {row.sol_tracker_all[:200]!r}"
    for column, lowest in (("team_performance", 0.0), ("performance_change", -1.0)):
        value = number(getattr(row, column))
        if value is None or not lowest <= value <= 1.0:
            yield "DE-04", column, f"no number from {lowest:g} to 1: {getattr(row, column)[:200]!r}"


def _values(row: GroupRow) -> Iterator[tuple[str, str, str]]:
    """DE-08: annotations that the documentation does not know; those of a SUBMIT are DE-07's."""
    if row.message_type != "MESSAGE":
        return
    kind, target = row.annotation_type, row.annotation_target
    if kind not in TARGETS:
        yield "DE-08", "annotation_type", f"unknown type {kind!r}"
    elif target not in TARGETS[kind]:
        yield "DE-08", "annotation_target", f"the target {target!r} does not go with the type {kind!r}"
    items = row.annotation_additional.split(",")
    if items != [NO_ITEMS] and (unknown := [item for item in items if item not in ADDITIONAL]):
        yield "DE-08", "annotation_additional", f"unknown items {unknown}"


def _spellings(row: GroupRow, raw: GroupRow) -> Iterator[tuple[str, str, str]]:
    """DE-09: quotes that the publisher's writer would not leave so, and messages without words."""
    for column, cell in raw._asdict().items():
        if is_quoted(cell):
            if "'" in cell[1:-1].replace("''", ""):
                yield "DE-09", column, f"a single quote inside a quoted cell: {cell[:200]!r}"
        elif cell.startswith("'") or cell.endswith("'"):
            yield "DE-09", column, f"a quote at one end only: {cell[:200]!r}"
        if cell.lstrip(" ").startswith('"'):
            yield "DE-09", column, f"begins with a quote that the reference readers take for their own: {cell[:200]!r}"
    if row.message_type == "MESSAGE" and not row.original_text:
        yield "DE-09", "original_text", "a MESSAGE without text"
