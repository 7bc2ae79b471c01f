"""What stands between a staged warehouse and its publication: the quarantine's limit, and the checks."""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb

from ingest.batches import Stream, frame
from ingest.corpus import Corpus
from ingest.rows import Finding
from queries.checks import Check, Outcome, run
from schema.errors import CheckFailed, TooMuchQuarantined
from schema.sql import insert
from schema.tables import metadata, qualified
from talkhouse.build.memory import in_little_memory
from talkhouse.build.quarantine_limit import QuarantineLimit

_MEMORY = 256_000_000
"""Bytes that DuckDB may hold while it fills examples and checks; more goes to the disk, so that memory does not grow
with the rows."""

_EXAMPLES = "main.examples"

_SHOWN = 10
"""Rows or findings that a message shows."""


def limit_quarantine(con: duckdb.DuckDBPyConnection, loaded: Iterable[Corpus], limit: QuarantineLimit) -> None:
    """Stop where more records of a corpus are in quarantine than the limit allows."""
    for corpus in loaded:
        ((records, quarantined, refused),) = con.execute(
            "select coalesce(sum(records_in), 0), coalesce(sum(records_quarantined), 0), count_if(kind = 'refused') "
            "from meta.source_files where corpus_id = ?",
            [corpus.id],
        ).fetchall()
        has_lost_count = refused > 0 and not corpus.has_record_per_file
        if limit.is_exceeded(quarantined, records, has_lost_count=has_lost_count):
            raise _too_much(con, corpus, limit, int(records), int(quarantined))


def pass_checks(
    con: duckdb.DuckDBPyConnection,
    beside: duckdb.DuckDBPyConnection,
    wanted: list[Check],
    fill_examples: Callable[[], None],
) -> None:
    """Run the checks on a staged warehouse, write down what they found and cost; errors raise CheckFailed.

    The examples are filled meanwhile: most checks are about tables that are full by then, and go by the connection
    ``beside``. Both may happen twice, where the memory was not enough.
    """
    outcomes = in_little_memory(con, _MEMORY, lambda: _side_by_side(con, beside, wanted, fill_examples))
    failed = [outcome for outcome in outcomes if outcome.is_failure]
    if failed:
        raise CheckFailed(
            f"{len(failed)} checks failed; nothing was published",
            expected=failed[0].check.condition,
            found=f"{failed[0].offending:,} rows offend against {failed[0].check.name}:\n{_lines(failed[0])}",
            next_step=failed[0].check.remedy,
        )
    passed = [
        (outcome.check.name, outcome.check.severity, outcome.check.condition, outcome.offending, outcome.milliseconds)
        for outcome in outcomes
    ]
    insert(con, "meta.checks", passed)
    _note_warnings(con, outcomes)


def _side_by_side(
    con: duckdb.DuckDBPyConnection,
    beside: duckdb.DuckDBPyConnection,
    wanted: list[Check],
    fill_examples: Callable[[], None],
) -> list[Outcome]:
    """Fill the examples and check all other tables meanwhile, then do the checks that may read examples."""
    early = [check for check in wanted if check.about not in (None, _EXAMPLES)]
    with ThreadPoolExecutor(max_workers=1) as thread:
        found = thread.submit(lambda: list(run(beside, early)))
        try:
            fill_examples()
        except BaseException:
            beside.interrupt()
            raise
    late = run(con, (check for check in wanted if check not in early))
    outcomes = {outcome.check.name: outcome for outcome in (*found.result(), *late)}
    return [outcomes[check.name] for check in wanted]


def _note_warnings(con: duckdb.DuckDBPyConnection, outcomes: list[Outcome]) -> None:
    """Turn the rows that warnings found into findings."""
    taken = con.execute("select corpus_id, max(finding_index) + 1 from meta.findings group by all").fetchall()
    next_index: Counter[str | None] = Counter(dict(taken))
    found: list[Finding] = []
    for outcome in outcomes:
        for row in outcome.rows:
            finding = _finding(outcome, row, next_index)
            found.append(finding)
            next_index[finding.corpus_id] += 1
    if not found:
        return
    table = metadata.tables["meta.findings"]
    rows = Stream(frame("meta.findings", found))  # noqa: F841 - DuckDB finds it by its name
    con.execute(
        f"insert into {qualified(table)} by name select rows.* replace "
        "(coalesce(rows.source_file_id, records.source_file_id) as source_file_id) "
        "from rows left join main.records on records.record_id = rows.record_id"
    )


def _finding(outcome: Outcome, row: dict[str, Any], next_index: Counter[str | None]) -> Finding:
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


def _lines(outcome: Outcome) -> str:
    """Show the first offending rows."""
    shown = [", ".join(f"{name}={value!r}" for name, value in row.items()) for row in outcome.rows[:_SHOWN]]
    more = outcome.offending - len(shown)
    return "\n".join(f"    {line}" for line in [*shown, *([f"... and {more:,} more"] if more > 0 else [])])


def _too_much(
    con: duckdb.DuckDBPyConnection, corpus: Corpus, limit: QuarantineLimit, records: int, quarantined: int
) -> TooMuchQuarantined:
    rows = con.execute(
        "select rule, source_file_id, pointer, detail from meta.quarantine where corpus_id = ? order by all limit ?",
        [corpus.id, _SHOWN],
    ).fetchall()
    lines = [f"    {rule} {file}{'#' if pointer else ''}{pointer}: {detail}" for rule, file, pointer, detail in rows]
    lines += [f"    ... and {quarantined - len(rows):,} more"] if quarantined > len(rows) else []
    return TooMuchQuarantined(
        f"too many records of '{corpus.id}' can't be loaded; nothing was published",
        expected=f"at most {limit.text} in quarantine",
        found=f"{quarantined:,} of {records:,} records:\n" + "\n".join(lines),
        next_step=f"mend the files, or let them pass with: --max-quarantine {quarantined}",
    )
