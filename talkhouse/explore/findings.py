"""What was quarantined or warned about in a warehouse: rule, place, detail, and what to do about it."""

from dataclasses import dataclass
from typing import Any

import duckdb

from schema.sql import dicts

_FINDINGS = """
select
    findings.rule,
    findings.severity,
    findings.corpus_id,
    findings.source_file_id as file,
    findings.pointer as place,
    findings.record_id,
    findings.task,
    findings.turn_index,
    findings.detail,
    rules.condition,
    rules.remedy,
from meta.findings
left join meta.rules on rules.rule = findings.rule
where $corpus is null or findings.corpus_id = $corpus
order by
    list_position(['reject_file', 'reject_dialogue', 'reject_example', 'warn', 'note'], findings.severity),
    findings.rule,
    findings.corpus_id,
    findings.finding_index
"""


@dataclass(frozen=True)
class Inventory:
    """What a rehearsed build found: its status, its files by what became of them, its findings."""

    status: dict[str, Any]
    files: list[dict[str, Any]]
    findings: list[dict[str, Any]]


def findings(con: duckdb.DuckDBPyConnection, corpus_id: str | None = None) -> list[dict[str, Any]]:
    """Give the findings of a warehouse or of one corpus, the gravest first."""
    return dicts(con.execute(_FINDINGS, {"corpus": corpus_id}))


def files(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Give the files of each corpus by what became of them, with the first names and the reason."""
    query = """
        select
            corpus_id,
            kind,
            note,
            count(*) as file_count,
            sum(records_in) as records,
            list(source_file_id order by source_file_id)[1:5] as examples,
        from meta.source_files
        group by corpus_id, kind, note
        order by all
    """
    return dicts(con.execute(query))
