"""What was found in rows, each at its line and column."""

from collections.abc import Iterable

import polars as pl

from talkhouse.ingest.common_rules import Severity
from talkhouse.ingest.declared.rows.columns import ID, REPLY_TO, TURN_ID, Hole
from talkhouse.ingest.declared.rows.facts import OWNER, Differing, Kept
from talkhouse.ingest.declared.rows.replies import TURN_INDEX, Replies
from talkhouse.ingest.declared.rows.spool import HAS_DEFAULT
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.sources import SourceFile


class RowFindings:
    """The findings of some rows, with their ``record_id``."""

    def __init__(self, file: SourceFile, rows: pl.DataFrame, kept: Kept) -> None:
        self._file, self._rows, self._kept = file, rows, kept
        self.findings: list[ReaderFinding] = []

    def add(self, rule: str, row: int, hole: Hole, detail: str, severity: Severity | None = None) -> None:
        """Add a finding about a cell, with its rule's severity or another."""
        at = pointer(self._rows["line"][row], *self._kept.path(hole, row))
        turn_index = self._rows[TURN_INDEX][row]
        record_id = self._rows["record_id"][row]
        finding = ReaderFinding(rule, detail, self._file, at, record_id, turn_index=turn_index, severity=severity)
        self.findings.append(finding)

    def of_dialogues(self, dialogues: pl.DataFrame) -> None:
        """Add a finding for each dialogue whose id was taken by other words."""
        for row in dialogues.filter("is_taken").iter_rows(named=True):
            detail = f"the id {row['native_id']!r:.100} was taken by other words; this dialogue is {row['dialogue_id']}"
            finding = ReaderFinding("GF-04", detail, self._file, pointer(row["line"]), row["record_id"])
            self.findings.append(finding)

    def of_default_ids(self) -> None:
        """Add a finding for each dialogue some of whose turns don't say of which they are."""
        if HAS_DEFAULT not in self._rows.columns:
            return
        lacking = self._rows.select(OWNER, HAS_DEFAULT, row=pl.int_range(pl.len())).filter(HAS_DEFAULT)
        counted = lacking.group_by(OWNER, maintain_order=True).agg(pl.col("row").first(), pl.len())
        for row, count in counted.select("row", "len").iter_rows():
            self.add("GF-20", row, ID, f"{count:,} in what is now {self._rows[ID][row]!r:.100}; here the first")

    def of_contradictions(self, cells: Iterable[Differing], facts: pl.DataFrame) -> None:
        """Add a finding for each column in which the rows of a dialogue say something else than the first that does."""
        seen: set[tuple[int, Hole]] = set()
        for cell in cells:
            owner = self._rows[OWNER][cell.row]
            if cell.is_contradiction and (owner, cell.hole) not in seen:
                seen.add((owner, cell.hole))
                detail = f"{cell.literal:.100}, but before: {str(facts[cell.hole][owner])!r:.100}"
                self.add("GF-18", cell.row, cell.hole, detail)

    def of_replies(self, replies: Replies) -> None:
        """Add findings for ids that occur twice, and for replies that lead nowhere, round in a loop, or forward."""
        for row in replies.repeated:
            self.add("GF-06", row, TURN_ID, f"the id {self._rows[TURN_ID][row]!r:.100} is an earlier turn's")
        for problem, where in (
            ("is of no turn of the dialogue", replies.lost),
            ("replies to this turn in the end", replies.looped),
        ):
            for row in where.arg_true():
                self.add("GF-07", row, REPLY_TO, f"{self._rows[REPLY_TO][row]!r:.100} {problem}")
        for row in (replies.targets > self._rows[TURN_INDEX]).arg_true():
            self.add("GF-19", row, REPLY_TO, f"{self._rows[REPLY_TO][row]!r:.100} is the turn {replies.targets[row]}")

    def of_times(self, hole: Hole, bad: pl.Series) -> None:
        """Add a finding for each time of another form than declared."""
        for row in bad.is_not_null().arg_true():
            self.add("GF-09", row, hole, f"{bad[row]!r:.100} is no time of the declared form")
