"""Builds a warehouse: the only place that knows the order stage, read, load, examples, views, publish."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb

import migrations
from ingest.corpus import Corpus
from ingest.registry import corpora
from queries.catalogue import Catalogue, catalogue
from schema import warehouse
from schema.errors import BuildFailed
from schema.quote import literal
from talkhouse.inputs import Input, Request, from_data, from_paths, from_samples
from talkhouse.plan import Old, Plan, look, plan
from talkhouse.progress import Progress
from talkhouse.publish import Workshop, publish, workshop
from talkhouse.settings import version


@dataclass
class Result:
    """What a build did."""

    path: Path
    loaded: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    is_unchanged: bool = False
    built_at: datetime | None = None
    """When the unchanged warehouse was built, UTC."""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def build(
    path: Path,
    progress: Progress,
    *,
    data: Path | None = None,
    only: tuple[str, ...] = (),
    rehash: bool = False,
    wait: bool = True,
    corpus_roots: tuple[Path, ...] = (),
    query_roots: tuple[Path, ...] = (),
) -> Result:
    """Make the warehouse equal to a data folder, or to the bundled samples where none is given.

    ``corpus_roots`` and ``query_roots`` are searched for corpora and views besides our own.
    """
    known = _corpora(corpus_roots)
    request = from_data(known, data, only) if data else from_samples(known, only)
    return _run(path, progress, known, _catalogue(query_roots), request, rehash=rehash, wait=wait)


def ingest(path: Path, progress: Progress, corpus_id: str, paths: list[Path], *, wait: bool = True) -> Result:
    """Replace one corpus by what the given files, folders or archives hold; the others stay."""
    known = _corpora(())
    request = from_paths(known, corpus_id, paths)
    return _run(path, progress, known, _catalogue(()), request, rehash=False, wait=wait)


def _corpora(roots: tuple[Path, ...]) -> dict[str, Corpus]:
    from ingest.registry import DEFAULT_ROOT

    return corpora((DEFAULT_ROOT, *roots))


def _catalogue(roots: tuple[Path, ...]) -> Catalogue:
    from queries.catalogue import DEFAULT_ROOT

    return catalogue((DEFAULT_ROOT, *roots))


def _run(
    path: Path,
    progress: Progress,
    known: dict[str, Corpus],
    views: Catalogue,
    request: Request,
    *,
    rehash: bool,
    wait: bool,
) -> Result:
    """Do a request under the lock; the published file changes at the very end or not at all."""
    begun = time.monotonic()
    warehouse.check_name(path, {*known, *views.schemas})
    with workshop(path, wait=wait, on_wait=progress.waiting) as bench, _clear_failures(path):
        old = look(bench.old, shown=path)
        todo = plan(request, old, views, rehash=rehash)
        result = Result(
            path,
            loaded=[item.corpus.id for item in todo.load],
            kept=list(todo.keep),
            removed=list(todo.remove),
            notes=[f"ignored the folder {name}: {reason}" for name, reason in request.ignored],
        )
        if todo.is_current and old and not bench.wal.exists():
            result.is_unchanged, result.built_at = True, old.finished_at
        else:
            _stage(bench, progress, known, views, request, todo, old, result)
            publish(bench)
        result.seconds = time.monotonic() - begun
        return result


def _stage(
    bench: Workshop,
    progress: Progress,
    known: dict[str, Corpus],
    views: Catalogue,
    request: Request,
    todo: Plan,
    old: Old | None,
    result: Result,
) -> None:
    """Build the new warehouse in the workshop, ready to be published."""
    started = datetime.now(UTC)
    migrations.upgrade(bench.stage)
    with warehouse.create(bench.stage) as con:
        if old:
            _carry(con, bench.old, todo)
        for item in todo.load:
            _load(con, item, progress)
        _note_rules(con, [known[name] for name in (*result.loaded, *result.kept) if name in known])
        _note_findings(con, request, bench, result)
        _make_views(con, known, views, [*result.loaded, *result.kept])
        _note_load(con, request, views, result, started)
        con.execute("checkpoint")


def _load(con: duckdb.DuckDBPyConnection, item: Input, progress: Progress) -> None:
    """Load one corpus in one transaction."""
    from ingest.load import (
        Load,  # Polars takes its time to import, and an unchanged warehouse needs none of it
    )

    progress.start(item.corpus, sum(file.content_size() for file in item.files))
    con.execute("begin")
    Load(con, item.corpus, progress.advance).run(item.files, is_sample=item.is_sample)
    con.execute("commit")
    progress.finish(item.corpus)


def _carry(con: duckdb.DuckDBPyConnection, old: Path, todo: Plan) -> None:
    """Copy the corpora that are kept, and the history of builds, from the published file."""
    from schema.tables import metadata, owned_by, qualified

    con.execute(f"attach {literal(str(old))} as old (read_only)")
    con.execute("begin")
    con.execute("insert into meta.loads by name select * from old.meta.loads order by load_id")
    made_again = {"main.examples", "meta.loads", "meta.rules"}
    for table in (one for one in metadata.tables.values() if qualified(one) not in made_again):
        if todo.keep:
            mine = " or ".join(owned_by(table, corpus_id) for corpus_id in todo.keep)
            con.execute(f"insert into {qualified(table)} by name select * from old.{qualified(table)} where {mine}")
    for file in (file for item in todo.touched for file in item.files):
        con.execute(
            "update meta.source_files set mtime_ns = ?, inode = ? where path = ? and member is null",
            [file.stat.mtime_ns, file.stat.inode, file.stat.path],
        )
    con.execute("commit")
    con.execute("detach old")


def _note_rules(con: duckdb.DuckDBPyConnection, present: list[Corpus]) -> None:
    """Write down the rules that findings may name."""
    from ingest.corpus import HOUSE_RULES

    owned = [(None, rule) for rule in HOUSE_RULES]
    owned += [(corpus.id, rule) for corpus in present for rule in corpus.rules]  # type: ignore[misc]
    for corpus_id, rule in owned:
        con.execute(
            "insert into meta.rules values (?, ?, ?, ?, ?)",
            [rule.id, corpus_id, rule.severity, rule.condition, rule.remedy],
        )


def _note_findings(con: duckdb.DuckDBPyConnection, request: Request, bench: Workshop, result: Result) -> None:
    """Write down what belongs to no corpus: ignored folders, and a stale WAL that is moved aside."""
    found = [("TH-05", name, reason) for name, reason in request.ignored]
    if bench.wal.exists():
        reason = f"moved aside to {bench.stale_wal.name}"
        found.append(("TH-06", bench.wal.name, reason))
        result.notes.append(f"{bench.wal.name}: a stale write-ahead log; {reason}")
    for index, (rule, name, detail) in enumerate(found):
        con.execute(
            "insert into meta.findings by name select null as corpus_id, ?::integer as finding_index, "
            "? as rule, 'warn' as severity, ? as source_file_id, ? as detail",
            [index, rule, name, detail],
        )


def _make_views(con: duckdb.DuckDBPyConnection, known: dict[str, Corpus], views: Catalogue, present: list[str]) -> None:
    from queries.views import create_views, fill_examples

    con.execute("begin")
    fill_examples(con, views, present)
    create_views(con, views, {name: corpus.splits for name, corpus in known.items()})
    con.execute("commit")


def _note_load(
    con: duckdb.DuckDBPyConnection, request: Request, views: Catalogue, result: Result, started: datetime
) -> None:
    """Write down the build itself."""
    outcome = {
        **dict.fromkeys(result.kept, "unchanged"),
        **dict.fromkeys(result.loaded, "loaded"),
        **dict.fromkeys(result.removed, "removed"),
    }
    readers = dict(con.execute("select corpus_id, reader_version from main.corpora order by all").fetchall())
    con.execute(
        "insert into meta.loads select coalesce(max(load_id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ? from meta.loads",
        [
            started.replace(tzinfo=None),
            datetime.now(UTC).replace(tzinfo=None),
            version(),
            migrations.head(),
            views.hash,
            request.source,
            json.dumps(readers),
            json.dumps(outcome),
        ],
    )


@contextmanager
def _clear_failures(path: Path) -> Iterator[None]:
    """Say in one message what went wrong outside of the input: most often a full disk."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, OSError) as error:
        raise BuildFailed(
            "the build stopped; the published warehouse is as it was",
            where=path,
            found=str(error).strip(),
            next_step="make room on the disk of this folder if it is full, and build again",
        ) from error
