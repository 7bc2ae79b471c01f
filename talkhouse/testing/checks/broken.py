"""Broken files: ``broken/<rule>/raw`` gives that rule at a place, what is refused is kept, and the rest is loaded."""

from pathlib import Path

import duckdb

from talkhouse.ingest.registry import rules_of
from talkhouse.testing.checks.sample import files_are_equal
from talkhouse.testing.failure import require, require_none
from talkhouse.testing.subject import Subject


def a_broken_file_is_told_and_kept(subject: Subject, rule: str) -> None:
    """The rule is told at a place; what it refuses is in the quarantine whole, the rest is loaded; all comes back."""
    is_told_and_kept(subject, rule, subject.laid_out(subject.case("broken", rule) / "raw"))


def is_told_and_kept(subject: Subject, rule_id: str, data: Path) -> None:
    """Build a data folder that breaks a rule; try the findings, the quarantine and the restored files."""
    con = subject.built(data)
    _is_told(subject, rule_id, con)
    _is_counted(con)
    _is_kept(subject, rule_id, data, con)
    files_are_equal(subject, con, data / subject.corpus.id)


def _is_told(subject: Subject, rule_id: str, con: duckdb.DuckDBPyConnection) -> None:
    rule = rules_of(subject.corpus)[rule_id]
    query = (
        "select findings.severity, source_file_id, detail, remedy "
        "from meta.findings inner join meta.rules using (rule) where rule = ?"
    )
    rows = con.execute(query, [rule_id]).fetchall()
    severities = sorted({severity for severity, *_ in rows})
    require(rule.severity in severities, f"no finding of {rule_id}", expected=rule.severity, found=severities)
    bare = [row for row in rows if not all(row[1:])]
    require_none(bare, f"findings of {rule_id} that say too little", expected="a file, a detail and a remedy")


def _is_counted(con: duckdb.DuckDBPyConnection) -> None:
    query = "select sum(records_in), sum(records_loaded), sum(records_quarantined) from meta.source_files"
    ((came, loaded, quarantined),) = con.execute(query).fetchall()
    ((stored,),) = con.execute("select count(*) from main.records").fetchall()
    require(came == loaded + quarantined, "records are lost", expected=came, found=f"{loaded} and {quarantined}")
    require(loaded == stored > 0, "the rest is not loaded", expected="a record at least", found=stored)


def _is_kept(subject: Subject, rule_id: str, data: Path, con: duckdb.DuckDBPyConnection) -> None:
    rule = rules_of(subject.corpus)[rule_id]
    query = "select source_file_id, pointer, raw from meta.quarantine where rule = ?"
    refused = con.execute(query, [rule_id]).fetchall()
    if rule.severity != "reject_example":
        is_refused = rule.severity.startswith("reject_")
        expected = "a record in the quarantine" if is_refused else "none, as a warning refuses nothing"
        require(bool(refused) == is_refused, f"{rule_id} is {rule.severity}", expected=expected, found=len(refused))
    for name, pointer, raw in refused:
        if "!" not in name:
            whole = (data / name).read_bytes()
            is_kept = raw in whole if pointer else raw == whole
            require(is_kept, "the quarantine has other bytes than the file", where=f"{name}#{pointer}")
