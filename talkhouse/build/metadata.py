"""What a build copies from the previous warehouse, and what it records about itself."""

import json
from datetime import datetime
from pathlib import Path

import duckdb

from talkhouse import migrations
from talkhouse.build.plan import Plan
from talkhouse.build.request import Request
from talkhouse.build.workspace import Workspace
from talkhouse.ingest.common_rules import COMMON_RULES, Rule
from talkhouse.ingest.corpus import Corpus
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.checks import checks
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import RegistryError
from talkhouse.schema.sql import insert, literal
from talkhouse.schema.tables import metadata, owned_by, qualified
from talkhouse.settings import version

_NOT_COPIED = {"main.examples", "meta.loads", "meta.rules", "meta.checks", "meta.exceptions"}


def copy_kept(
    con: duckdb.DuckDBPyConnection, old: Path, plan: Plan, catalogue: Catalogue, present: list[Corpus]
) -> None:
    """Copy the corpora that are kept, and the history of builds, from the published file."""
    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute("begin")
    con.execute("insert into meta.loads by name select * from old.meta.loads order by load_id")
    copied = [table for table in metadata.tables.values() if plan.keep and qualified(table) not in _NOT_COPIED]
    for table in copied:
        kept = " or ".join(owned_by(table, corpus_id) for corpus_id in plan.keep)
        if table.name == "findings":
            kept = f"({kept}) and rule in ({_rules_of_readers(catalogue, present)})"
        con.execute(f"insert into {qualified(table)} by name select * from old.{qualified(table)} where {kept}")
    for file in (file for item in plan.restamp for file in item.files):
        con.execute(
            "update meta.source_files set modified_at = ?, mtime_ns = if(member is null, ?, null), "
            "inode = if(member is null, ?, null) where path = ?",
            [file.stat.modified_at, file.stat.mtime_ns, file.stat.inode, file.stat.path],
        )
    con.execute("commit")
    con.execute("detach old")


def _rules_of_readers(catalogue: Catalogue, present: list[Corpus]) -> str:
    """List the rules whose findings come from reading; the checks find theirs again."""
    of_checks = {check.rule for check in checks(catalogue, [corpus.id for corpus in present])}
    rules = {rule.id for rule in (*COMMON_RULES, *(rule for corpus in present for rule in corpus.rules))}
    return ", ".join(literal(rule) for rule in sorted(rules - of_checks))


def record_rules(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, present: list[Corpus]) -> None:
    """Record the rules that findings may name, and the exceptions to checks that corpora declare.

    Raises RegistryError for an exception to a check that is not there.
    """
    owned: list[tuple[str | None, Rule]] = [(None, rule) for rule in COMMON_RULES]
    owned += [(corpus.id, rule) for corpus in present for rule in corpus.rules]
    known = {rule.id for _, rule in owned}
    all_checks = checks(catalogue, [corpus.id for corpus in present])
    for check in all_checks:
        if check.severity == "warn" and check.rule not in known:
            owned.append((check.corpus_id, Rule(check.rule, "warn", check.condition, check.remedy)))
    rules = [(rule.id, corpus_id, rule.severity, rule.condition, rule.remedy) for corpus_id, rule in owned]
    insert(con, "meta.rules", rules)
    exempt = [
        (corpus.id, exception.check, exception.scope, exception.reason)
        for corpus in present
        for exception in corpus.exceptions
    ]
    _check_exempt(exempt, {check.name for check in all_checks})
    insert(con, "meta.exceptions", exempt)


def _check_exempt(exempt: list[tuple[str, str, str, str]], names: set[str]) -> None:
    for corpus_id, check, scope, _ in exempt:
        if check not in names:
            raise RegistryError(
                f"the corpus '{corpus_id}' declares an exception to a check that is not there",
                expected=f"one of: {', '.join(closest(check, names))}",
                found=f"Exempt({check!r}, {scope!r}, ...)",
                next_step=f"correct the exceptions of the corpus '{corpus_id}'",
            )


def record_findings(con: duckdb.DuckDBPyConnection, request: Request, workspace: Workspace) -> list[str]:
    """Record what belongs to no corpus: ignored folders and a stale WAL; return a line on the latter."""
    findings = [("TH-05", name, reason) for name, reason in request.ignored]
    lines = []
    if workspace.wal.exists():
        reason = f"a stale write-ahead log, moved aside to {workspace.stale_wal.name}"
        findings.append(("TH-06", workspace.wal.name, reason))
        lines.append(f"{workspace.wal.name}: {reason}")
    for index, (rule, name, detail) in enumerate(findings):
        con.execute(
            "insert into meta.findings by name select null as corpus_id, ?::integer as finding_index, "
            "? as rule, 'warn' as severity, ? as source_file_id, ? as detail",
            [index, rule, name, detail],
        )
    return lines


def copy_file_facts(con: duckdb.DuckDBPyConnection, old: Path, corpus_ids: list[str]) -> None:
    """Copy what the previous warehouse says of the publisher's own files, where copies of them were read."""
    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute(
        "update meta.source_files set sha256 = facts.sha256, size = facts.size, modified_at = facts.modified_at, "
        "mtime_ns = facts.mtime_ns, inode = facts.inode from old.meta.source_files as facts "
        "where facts.source_file_id = source_files.source_file_id and facts.corpus_id in (select unnest(?::varchar[]))",
        [corpus_ids],
    )
    con.execute("detach old")


def record_load(
    con: duckdb.DuckDBPyConnection,
    request: Request,
    catalogue: Catalogue,
    plan: Plan,
    started: datetime,
    finished: datetime,
) -> None:
    """Record the build itself."""
    outcome = {
        **dict.fromkeys(plan.keep, "unchanged"),
        **dict.fromkeys((item.corpus.id for item in plan.load), "replayed" if request.is_replay else "loaded"),
        **dict.fromkeys(plan.remove, "removed"),
    }
    readers = dict(con.execute("select corpus_id, reader_version from main.corpora order by all").fetchall())
    con.execute(
        "insert into meta.loads select coalesce(max(load_id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ? from meta.loads",
        [
            started.replace(tzinfo=None),
            finished.replace(tzinfo=None),
            version(),
            migrations.head(),
            catalogue.hash,
            request.source,
            json.dumps(readers),
            json.dumps(outcome),
        ],
    )
