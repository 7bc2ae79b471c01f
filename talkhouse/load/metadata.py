"""What a build copies from the previous warehouse, and what it records about itself."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from talkhouse import migrations
from talkhouse.ingest.common_rules import Rule, shared_rules
from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.loading.vocabulary import declare_again
from talkhouse.load.plan import Plan, Present
from talkhouse.load.request import BuildRequest
from talkhouse.load.workspace import Workspace
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.checks import checks
from talkhouse.schema.errors import RegistryError, closest
from talkhouse.schema.sql import insert, literal
from talkhouse.schema.tables import metadata, owned_by, qualified
from talkhouse.settings import version
from talkhouse.warehouse.readers import StoredFile, changed_declarations, source_files

_MADE_ANEW = {"main.examples", "meta.loads", "meta.rules", "meta.checks", "meta.exceptions", "meta.query_files"}


def delete_replaced(con: duckdb.DuckDBPyConnection, plan: Plan, known: Present) -> frozenset[str]:
    """Delete from a copy of the published file what this build makes anew; what is kept stays, as ``copy_kept`` has it.

    The rows of corpora some of whose files may be read alone stay too. Returns the checks that found nothing.
    """
    passed = con.execute("select check_name from meta.checks where offending = 0").fetchall()
    exempt = con.execute("select corpus_id, check_name, scope, reason from meta.exceptions").fetchall()
    if {row for row in exempt if row[0] not in known.gone} != {*_exceptions(known)}:
        passed = []  # one that held may have held by an exception
    con.execute("begin")
    anew = [*plan.remove, *(item.corpus.id for item in plan.load if item.corpus.id not in plan.changes)]
    for corpus_id in anew:
        delete_corpus(con, corpus_id)
    gone = ", ".join(map(literal, ["", *known.gone]))
    con.execute(f"delete from meta.findings where corpus_id is null or not ({_found_before(known)})")
    con.execute("delete from meta.query_files")
    for table in ("meta.rules", "meta.exceptions"):
        con.execute(f"delete from {table} where coalesce(corpus_id, '') = '' or corpus_id not in ({gone})")
    con.execute(f"delete from meta.checks where split_part(check_name, '.', 1) not in ({gone})")
    _bring_up_to_date(con, plan, known)
    con.execute("commit")
    return frozenset(name for (name,) in passed)


def delete_corpus(con: duckdb.DuckDBPyConnection, corpus_id: str) -> None:
    """Delete all rows of a corpus."""
    for table in metadata.tables.values():
        if table.info["owner"] is not None:
            con.execute(f"delete from {qualified(table)} where {owned_by(table, corpus_id)}")


def copy_kept(con: duckdb.DuckDBPyConnection, old: Path, plan: Plan, known: Present) -> None:
    """Copy the corpora that are kept, or of which some files are, and the history of builds, from the published file.

    Of corpora that can't be read here, what their declarations and SQL have made is copied too, and not made anew:
    examples, rules, exceptions, and what their checks found. Of the SQL that lies in a warehouse, views and macros
    alone are made again, and compute (``queries.foreign_sql``).
    """
    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute("begin")
    con.execute("insert into meta.loads by name select * from old.meta.loads order by load_id")
    wanted = [*plan.keep, *plan.changes]
    copied = [table for table in metadata.tables.values() if wanted and qualified(table) not in _MADE_ANEW]
    for table in copied:
        condition = " or ".join(owned_by(table, corpus_id) for corpus_id in wanted)
        if table.name == "findings":
            condition = f"({condition}) and ({_found_before(known)})"
        con.execute(f"insert into {qualified(table)} by name select * from old.{qualified(table)} where {condition}")
    _copy_gone(con, known.gone)
    _bring_up_to_date(con, plan, known)
    con.execute("commit")
    con.execute("detach old")


def _bring_up_to_date(con: duckdb.DuckDBPyConnection, plan: Plan, known: Present) -> None:
    """Set what is known of kept files that were only touched, and what their corpora declare."""
    for file in (file for item in plan.restamp for file in item.files):
        con.execute(
            "update meta.source_files set modified_at = ?, mtime_ns = if(member is null, ?, null), "
            "inode = if(member is null, ?, null) where path = ?",
            [file.stat.modified_at, file.stat.mtime_ns, file.stat.inode, file.stat.path],
        )
    for corpus in changed_declarations(con, known.corpora):
        declare_again(con, corpus)


def _copy_gone(con: duckdb.DuckDBPyConnection, gone: Iterable[str]) -> None:
    """Copy the rows of these corpora that can't be rebuilt here."""
    for corpus_id in gone:
        for table in ("main.examples", "meta.rules", "meta.exceptions"):
            con.execute(f"insert into {table} by name select * from old.{table} where corpus_id = {literal(corpus_id)}")
        of_checks = f"starts_with(check_name, {literal(corpus_id + '.')})"
        con.execute(f"insert into meta.checks by name select * from old.meta.checks where {of_checks}")


def _found_before(known: Present) -> str:
    """Write the condition of findings that nothing finds again: the checks that are run find theirs anew."""
    of_checks = {check.rule for check in checks(known.catalogue, known.corpora, {})}
    of_readers = {rule.id for corpus in known.corpora.values() for rule in (*shared_rules(), *corpus.rules)}
    rules = ", ".join(literal(rule) for rule in sorted(of_readers - of_checks))
    if not known.gone:
        return f"rule in ({rules})"
    gone, found_again = (", ".join(map(literal, sorted(names))) for names in (known.gone, of_checks))
    return f"rule in ({rules}) or (corpus_id in ({gone}) and rule not in ({found_again}))"


def record_rules(con: duckdb.DuckDBPyConnection, present: Present) -> None:
    """Record the rules that findings may name, and the exceptions to checks that corpora declare.

    Raises RegistryError for an exception to a check that is not there.
    """
    owned: list[tuple[str | None, Rule]] = [(None, rule) for rule in shared_rules()]
    owned += [(corpus.id, rule) for corpus in present.corpora.values() for rule in corpus.rules]
    known = {rule.id for _, rule in owned}
    all_checks = checks(present.catalogue, present.corpora, {})
    for check in all_checks:
        if check.severity == "warn" and check.rule not in known:
            owned.append((check.corpus_id, Rule(check.rule, "warn", check.condition, check.remedy)))
    _check_owners(con, owned)
    rules = [(rule.id, corpus_id, rule.severity, rule.condition, rule.remedy) for corpus_id, rule in owned]
    insert(con, "meta.rules", rules)
    exempt = _exceptions(present)
    _check_exempt(exempt, {check.name for check in all_checks})
    insert(con, "meta.exceptions", exempt)


def _check_owners(con: duckdb.DuckDBPyConnection, owned: Iterable[tuple[str | None, Rule]]) -> None:
    """Raise RegistryError for a rule that a kept corpus, unreadable here, has too."""
    owners = dict(con.execute("select rule, corpus_id from meta.rules").fetchall())
    for corpus_id, rule in owned:
        if rule.id in owners:
            raise RegistryError(
                f"the corpus '{owners[rule.id]}', which is in the warehouse, has a rule {rule.id!r} too",
                found=f"the corpus '{corpus_id}' declares it" if corpus_id else "it is one of Talkhouse's",
                next_step="give the rule another id, or build a warehouse of its own with --db FILE",
            )


def _exceptions(present: Present) -> list[tuple[str, str, str, str]]:
    return [
        (corpus.id, exception.check, exception.scope, exception.reason)
        for corpus in present.corpora.values()
        for exception in corpus.exceptions
    ]


def _check_exempt(exempt: list[tuple[str, str, str, str]], names: set[str]) -> None:
    for corpus_id, check, scope, _ in exempt:
        if check not in names:
            raise RegistryError(
                f"the corpus '{corpus_id}' declares an exception to a check that is not there",
                expected=f"one of: {', '.join(closest(check, names))}",
                found=f"Exempt({check!r}, {scope!r}, ...)",
                next_step=f"correct the exceptions of the corpus '{corpus_id}'",
            )


def record_findings(con: duckdb.DuckDBPyConnection, request: BuildRequest, workspace: Workspace) -> list[str]:
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
    # The same reader in another place makes no other warehouse.
    con.execute(
        "update main.corpora set origin = before.origin from old.main.corpora as before "
        "where before.corpus_id = corpora.corpus_id and before.reader_version = corpora.reader_version "
        "and before.origin is not null and corpora.corpus_id in (select unnest(?::varchar[]))",
        [corpus_ids],
    )
    con.execute("detach old")


def record_load(
    con: duckdb.DuckDBPyConnection,
    request: BuildRequest,
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


_NAMED = 3
"""Files that a note names; the findings have all."""

_MISSING, _OTHER = "TH-08", "TH-09"


@dataclass(frozen=True)
class _Compared:
    """What became of the files that a corpus declares."""

    declared: int
    missing: list[Source]
    others: list[tuple[StoredFile, Source]]


def record_sources(con: duckdb.DuckDBPyConnection, corpora: Iterable[Corpus]) -> list[str]:
    """Record as findings what is missing of the declared files of corpora that were read, and what is another file.

    Returns a line for the user on each. A corpus without any of its declared files comes in another form, on which
    nothing can be said.
    """
    notes: list[str] = []
    for corpus in (corpus for corpus in corpora if corpus.sources):
        compared = _compare(corpus.sources, source_files(con, corpus.id))
        if len(compared.missing) == compared.declared:
            continue
        _record(con, corpus.id, compared)
        notes += _notes(corpus.id, compared)
    return notes


def _compare(sources: tuple[Source, ...], files: list[StoredFile]) -> _Compared:
    hashes = {file.sha256 for file in files}
    missing, others = [], []
    for source in sources:
        if source.sha256 in hashes:  # under whatever name
            continue
        there = [file for file in files if file.is_at(source.path)]
        if there and source.sha256 is not None:
            others.append((there[0], source))
        elif not there and not _is_unpacked(source, files):
            missing.append(source)
    return _Compared(len(sources), missing, others)


def _is_unpacked(source: Source, files: list[StoredFile]) -> bool:
    return bool(source.holds) and all(any(file.is_at(path) for file in files) for path in source.holds)


def _record(con: duckdb.DuckDBPyConnection, corpus_id: str, compared: _Compared) -> None:
    rows: list[tuple[str, str, str | None, str]] = []
    if compared.missing:
        named = ", ".join(source.path for source in compared.missing)
        detail = f"{len(compared.missing):,} of {compared.declared:,} files missing: {named}"
        rows.append((_MISSING, "note", None, detail))
    for file, source in compared.others:
        detail = f"SHA-256 {file.sha256}; the corpus declares {source.sha256} for {source.url or source.path}"
        rows.append((_OTHER, "warn", file.id, detail))
    for rule, severity, file_id, detail in rows:
        con.execute(
            "insert into meta.findings by name select $corpus as corpus_id, coalesce(max(finding_index), -1) + 1 as "
            "finding_index, $rule as rule, $severity as severity, $file as source_file_id, $detail as detail "
            "from meta.findings where corpus_id = $corpus",
            {"corpus": corpus_id, "rule": rule, "severity": severity, "file": file_id, "detail": detail},
        )


def _notes(corpus_id: str, compared: _Compared) -> Iterator[str]:
    missing = [source.path for source in compared.missing]
    if missing:
        count = f"{len(missing):,} of {compared.declared:,} files missing"
        yield f"{corpus_id}: {count}: {_some(missing, corpus_id)}"
    if compared.others:
        files = "file is" if len(compared.others) == 1 else "files are"
        named = _some([file.path for file, _ in compared.others], corpus_id)
        yield f"{corpus_id}: {len(compared.others):,} {files} not the publisher's, by checksum: {named}"


def _some(names: list[str], corpus_id: str) -> str:
    more = len(names) - _NAMED
    rest = f" and {more:,} more, see talkhouse findings --corpus {corpus_id}" if more > 0 else ""
    return ", ".join(names[:_NAMED]) + rest
