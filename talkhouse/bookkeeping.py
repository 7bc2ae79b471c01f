"""What a build copies from the warehouse before it, and what it writes down about itself."""

import json
from datetime import UTC, datetime
from pathlib import Path

import duckdb

import migrations
from ingest.corpus import HOUSE_RULES, Corpus, Rule
from queries.catalogue import Catalogue
from schema.quote import literal
from talkhouse.inputs import Request
from talkhouse.plan import Plan
from talkhouse.publish import Workshop
from talkhouse.settings import version

_MADE_AGAIN = {"main.examples", "meta.loads", "meta.rules"}


def carry(con: duckdb.DuckDBPyConnection, old: Path, todo: Plan) -> None:
    """Copy the corpora that are kept, and the history of builds, from the published file."""
    from schema.tables import metadata, owned_by, qualified  # SQLAlchemy is not needed where nothing changed

    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute("begin")
    con.execute("insert into meta.loads by name select * from old.meta.loads order by load_id")
    for table in (one for one in metadata.tables.values() if todo.keep and qualified(one) not in _MADE_AGAIN):
        mine = " or ".join(owned_by(table, corpus_id) for corpus_id in todo.keep)
        con.execute(f"insert into {qualified(table)} by name select * from old.{qualified(table)} where {mine}")
    for file in (file for item in todo.touched for file in item.files):
        con.execute(
            "update meta.source_files set mtime_ns = ?, inode = ? where path = ? and member is null",
            [file.stat.mtime_ns, file.stat.inode, file.stat.path],
        )
    con.execute("commit")
    con.execute("detach old")


def note_rules(con: duckdb.DuckDBPyConnection, present: list[Corpus]) -> None:
    """Write down the rules that findings may name."""
    owned: list[tuple[str | None, Rule]] = [(None, rule) for rule in HOUSE_RULES]
    owned += [(corpus.id, rule) for corpus in present for rule in corpus.rules]
    for corpus_id, rule in owned:
        con.execute(
            "insert into meta.rules values (?, ?, ?, ?, ?)",
            [rule.id, corpus_id, rule.severity, rule.condition, rule.remedy],
        )


def note_findings(con: duckdb.DuckDBPyConnection, request: Request, bench: Workshop) -> list[str]:
    """Write down what belongs to no corpus: ignored folders, and a stale WAL; gives a line on the latter."""
    found = [("TH-05", name, reason) for name, reason in request.ignored]
    lines = []
    if bench.wal.exists():
        reason = f"a stale write-ahead log, moved aside to {bench.stale_wal.name}"
        found.append(("TH-06", bench.wal.name, reason))
        lines.append(f"{bench.wal.name}: {reason}")
    for index, (rule, name, detail) in enumerate(found):
        con.execute(
            "insert into meta.findings by name select null as corpus_id, ?::integer as finding_index, "
            "? as rule, 'warn' as severity, ? as source_file_id, ? as detail",
            [index, rule, name, detail],
        )
    return lines


def note_load(con: duckdb.DuckDBPyConnection, source: str, catalogue: Catalogue, todo: Plan, started: datetime) -> None:
    """Write down the build itself."""
    outcome = {
        **dict.fromkeys(todo.keep, "unchanged"),
        **dict.fromkeys((item.corpus.id for item in todo.load), "loaded"),
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
            source,
            json.dumps(readers),
            json.dumps(outcome),
        ],
    )
