"""What a staged warehouse must pass to be published: the limit of the quarantine, and the checks."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import duckdb

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.loading.batches import frame
from talkhouse.ingest.rows import Finding
from talkhouse.load.request import QuarantineLimit
from talkhouse.queries.checks import CheckOutcome, SqlCheck, run
from talkhouse.schema.errors import CheckFailed, TooMuchQuarantined
from talkhouse.schema.sql import ArrowStream, insert
from talkhouse.schema.tables import metadata, qualified

_SHOWN = 10
"""Rows or findings that a message shows."""


def check_quarantine(con: duckdb.DuckDBPyConnection, loaded: Iterable[Corpus], limit: QuarantineLimit) -> None:
    """Raise TooMuchQuarantined where more records of a corpus are in quarantine than the limit allows."""
    for corpus in loaded:
        ((records, quarantined, refused),) = con.execute(
            "select coalesce(sum(records_in), 0), coalesce(sum(records_quarantined), 0), count_if(kind = 'refused') "
            "from meta.source_files where corpus_id = ?",
            [corpus.id],
        ).fetchall()
        has_lost_count = refused > 0 and not corpus.has_record_per_file
        if limit.is_exceeded(quarantined, records, has_lost_count=has_lost_count):
            raise _too_much(con, corpus, limit, int(records), int(quarantined))


def run_checks(con: duckdb.DuckDBPyConnection, checks: list[SqlCheck], passed: Mapping[str, float]) -> None:
    """Check a staged warehouse and record what was found and what it cost; CheckFailed where an error offends.

    ``passed``: checks that hold already, with the milliseconds that it took to see that.
    """
    outcomes = list(run(con, (check for check in checks if check.name not in passed)))
    outcomes += [CheckOutcome(check, 0, [], passed[check.name]) for check in checks if check.name in passed]
    failed = [outcome for outcome in outcomes if outcome.is_failure]
    if failed:
        raise CheckFailed(
            f"{len(failed)} checks failed; nothing was published",
            expected=failed[0].check.condition,
            found=f"{failed[0].offending:,} rows offend against {failed[0].check.name}:\n{_lines(failed[0])}",
            next_step=failed[0].check.remedy,
        )
    rows = [
        (outcome.check.name, outcome.check.severity, outcome.check.condition, outcome.offending, outcome.milliseconds)
        for outcome in outcomes
    ]
    insert(con, "meta.checks", rows)
    _record_warnings(con, outcomes)


def _record_warnings(con: duckdb.DuckDBPyConnection, outcomes: list[CheckOutcome]) -> None:
    """Turn the rows that warnings found into findings."""
    taken = con.execute("select corpus_id, max(finding_index) + 1 from meta.findings group by all").fetchall()
    next_index: Counter[str | None] = Counter(dict(taken))
    findings: list[Finding] = []
    for outcome in outcomes:
        for row in outcome.rows:
            finding = _finding(outcome, row, next_index)
            findings.append(finding)
            next_index[finding.corpus_id] += 1
    if not findings:
        return
    table = metadata.tables["meta.findings"]
    con.register("rows_of_checks", ArrowStream(frame("meta.findings", findings)))
    con.execute(
        f"insert into {qualified(table)} by name select rows.* replace "
        "(coalesce(rows.source_file_id, records.source_file_id) as source_file_id) "
        "from rows_of_checks as rows left join main.records on records.record_id = rows.record_id"
    )
    con.unregister("rows_of_checks")


def _finding(outcome: CheckOutcome, row: dict[str, Any], next_index: Counter[str | None]) -> Finding:
    key = row.get("record_id") or row.get("dialogue_id") or ""
    corpus_id = row.get("corpus_id") or outcome.check.corpus_id or key.replace(":", "/").partition("/")[0] or None
    return Finding(
        corpus_id=corpus_id,
        finding_index=next_index[corpus_id],
        rule=outcome.check.rule,
        severity=outcome.check.severity,
        source_file_id=row.get("source_file_id"),
        pointer=row.get("pointer"),
        record_id=row.get("record_id"),
        task=row.get("task"),
        turn_index=row.get("turn_index"),
        detail=row.get("detail") or str(row),
    )


def _lines(outcome: CheckOutcome) -> str:
    """Show the first offending rows."""
    shown = [", ".join(f"{name}={value!r}" for name, value in row.items()) for row in outcome.rows[:_SHOWN]]
    more = outcome.offending - len(shown)
    return "\n".join(f"    {line}" for line in [*shown, *([f"... and {more:,} more"] if more > 0 else [])])


def _too_much(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, limit: QuarantineLimit, records: int, quarantined: int
) -> TooMuchQuarantined:
    shown = con.execute(
        "select rule, source_file_id, pointer, detail from meta.quarantine where corpus_id = ? order by all limit ?",
        [corpus.id, _SHOWN],
    ).fetchall()
    lines = [f"    {rule} {file}{'#' if pointer else ''}{pointer}: {detail}" for rule, file, pointer, detail in shown]
    lines += [f"    ... and {quarantined - len(shown):,} more"] if quarantined > len(shown) else []
    return TooMuchQuarantined(
        f"too many records of '{corpus.id}' can't be loaded; nothing was published",
        expected=f"at most {limit.text} in quarantine",
        found=f"{quarantined:,} of {records:,} records:\n" + "\n".join(lines),
        next_step=f"fix the files, or let them pass with: --max-quarantine {quarantined}",
    )
