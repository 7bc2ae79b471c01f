"""What a build copies from the warehouse before it, and what it writes down about itself."""

import json
from datetime import UTC, datetime
from pathlib import Path

import duckdb

import migrations
from ingest.common_rules import COMMON_RULES, Rule
from ingest.corpus import Corpus
from queries.catalogue import Catalogue
from queries.checks import checks
from schema.sql import insert, literal
from schema.tables import metadata, owned_by, qualified
from talkhouse.build.plan import Plan
from talkhouse.build.request import Request
from talkhouse.build.workspace import Workspace
from talkhouse.settings import version

_MADE_AGAIN = {"main.examples", "meta.loads", "meta.rules", "meta.checks", "meta.exceptions"}


def carry(con: duckdb.DuckDBPyConnection, old: Path, todo: Plan, catalogue: Catalogue, present: list[Corpus]) -> None:
    """Copy the corpora that are kept, and the history of builds, from the published file."""
    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute("begin")
    con.execute("insert into meta.loads by name select * from old.meta.loads order by load_id")
    for table in (one for one in metadata.tables.values() if todo.keep and qualified(one) not in _MADE_AGAIN):
        mine = " or ".join(owned_by(table, corpus_id) for corpus_id in todo.keep)
        if table.name == "findings":
            mine = f"({mine}) and rule in ({_rules_of_readers(catalogue, present)})"
        con.execute(f"insert into {qualified(table)} by name select * from old.{qualified(table)} where {mine}")
    for file in (file for item in todo.touched for file in item.files):
        con.execute(
            "update meta.source_files set modified_at = ?, mtime_ns = if(member is null, ?, null), "
            "inode = if(member is null, ?, null) where path = ?",
            [file.stat.modified_at, file.stat.mtime_ns, file.stat.inode, file.stat.path],
        )
    con.execute("commit")
    con.execute("detach old")


def _rules_of_readers(catalogue: Catalogue, present: list[Corpus]) -> str:
    """List the rules whose findings come from reading; those of checks are found again."""
    of_checks = {check.rule for check in checks(catalogue, [corpus.id for corpus in present])}
    rules = {rule.id for rule in (*COMMON_RULES, *(rule for corpus in present for rule in corpus.rules))}
    return ", ".join(literal(rule) for rule in sorted(rules - of_checks))


def note_rules(con: duckdb.DuckDBPyConnection, catalogue: Catalogue, present: list[Corpus]) -> None:
    """Write down the rules that findings may name, and what corpora declare as exceptions to checks."""
    owned: list[tuple[str | None, Rule]] = [(None, rule) for rule in COMMON_RULES]
    owned += [(corpus.id, rule) for corpus in present for rule in corpus.rules]
    known = {rule.id for _, rule in owned}
    for check in checks(catalogue, [corpus.id for corpus in present]):
        if check.severity == "warn" and check.rule not in known:
            owned.append((check.corpus_id, Rule(check.rule, "warn", check.condition, check.remedy)))
    rules = [(rule.id, corpus_id, rule.severity, rule.condition, rule.remedy) for corpus_id, rule in owned]
    insert(con, "meta.rules", rules)
    exempt = [(corpus.id, one.check, one.scope, one.reason) for corpus in present for one in corpus.exceptions]
    insert(con, "meta.exceptions", exempt)


def note_findings(con: duckdb.DuckDBPyConnection, request: Request, workspace: Workspace) -> list[str]:
    """Write down what belongs to no corpus: ignored folders, and a stale WAL; gives a line on the latter."""
    found = [("TH-05", name, reason) for name, reason in request.ignored]
    lines = []
    if workspace.wal.exists():
        reason = f"a stale write-ahead log, moved aside to {workspace.stale_wal.name}"
        found.append(("TH-06", workspace.wal.name, reason))
        lines.append(f"{workspace.wal.name}: {reason}")
    for index, (rule, name, detail) in enumerate(found):
        con.execute(
            "insert into meta.findings by name select null as corpus_id, ?::integer as finding_index, "
            "? as rule, 'warn' as severity, ? as source_file_id, ? as detail",
            [index, rule, name, detail],
        )
    return lines


def keep_facts(con: duckdb.DuckDBPyConnection, old: Path, corpus_ids: list[str]) -> None:
    """Keep what the warehouse before says of the publisher's own files, where they were read from copies of them."""
    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute(
        "update meta.source_files set sha256 = facts.sha256, size = facts.size, modified_at = facts.modified_at, "
        "mtime_ns = facts.mtime_ns, inode = facts.inode from old.meta.source_files as facts "
        "where facts.source_file_id = source_files.source_file_id and facts.corpus_id in (select unnest(?::varchar[]))",
        [corpus_ids],
    )
    con.execute("detach old")


def note_load(
    con: duckdb.DuckDBPyConnection, request: Request, catalogue: Catalogue, todo: Plan, started: datetime
) -> None:
    """Write down the build itself."""
    outcome = {
        **dict.fromkeys(todo.keep, "unchanged"),
        **dict.fromkeys((item.corpus.id for item in todo.load), "replayed" if request.is_replay else "loaded"),
        **dict.fromkeys(todo.remove, "removed"),
    }
    readers = dict(con.execute("select corpus_id, reader_version from main.corpora order by all").fetchall())
    con.execute(
        "insert into meta.loads select coalesce(max(load_id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ? from meta.loads",
        [
            started.replace(tzinfo=None),
            datetime.now(UTC).replace(tzinfo=None),
            version(),
            migrations.head(),
            catalogue.hash,
            request.source,
            json.dumps(readers),
            json.dumps(outcome),
        ],
    )
