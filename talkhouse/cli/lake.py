"""``talkhouse lake``: the tables as Parquet and the views as SQL, for engines that run on many machines."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.completion import relations
from talkhouse.cli.terminal.console import decimal, escape, output
from talkhouse.cli.terminal.progress import BuildProgress, ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.schema.errors import UsageError
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.lake.write_lake import LakeResult
    from talkhouse.translation.translated import LeftOutView


@options.command
@click.argument("lake", metavar="DIR", type=options.PATH, help="The folder of the lake: a new one, or a lake.")
@click.argument("view", metavar="[VIEW]", required=False, shell_complete=relations, help="With --sql: only this view.")
@options.path(
    "--db",
    "warehouses",
    metavar="FILE",
    multiple=True,
    callback=options.read_all,
    help="The warehouse, or release:NAME; repeat it for several with different corpora, which make one lake. Default: "
    "$TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
)
@options.corpora
@options.corpus_folders
@options.data
@options.max_quarantine
@options.follow_links
@options.flag("--delta", help="Also write a Delta log for each table; a lake that has these logs keeps them.")
@options.dry_run
@options.flag("--sql", help="Print the SQL that makes the tables and views of the lake elsewhere.")
@click.option(
    "--location",
    metavar="URI",
    help="With --sql or --check: where that engine finds the lake, such as s3a://bucket/lake. Default: the path here.",
)
@options.flag("--check", help="Compare every table and view on Spark with DuckDB's.")
@click.option("--master", metavar="URL", help="With --check or --data: Spark's master, spark://HOST:7077 or local[2].")
@click.option("--remote", metavar="URL", help="With --check or --data: a Spark Connect server, sc://HOST:15002.")
@options.as_json
def command(
    lake: Path,
    view: str | None,
    warehouses: tuple[Path, ...],
    corpus: tuple[str, ...],
    folders: tuple[Path, ...],
    data: Path | None,
    max_quarantine: str,
    follow_links: bool,
    delta: bool,
    dry_run: bool,
    sql: bool,
    location: str | None,
    check: bool,
    master: str | None,
    remote: str | None,
    as_json: bool,
) -> None:
    """Write or refresh a lake: the tables as Parquet and the views as SQL, for Spark and whatever else reads Parquet.

    DIR/manifest.json names the current snapshot, a folder with one folder for each table and in it one for each corpus,
    with columns, rows and SHA-256 of every file, the builds and the licences. Rows that belong to no corpus are under
    corpus=shared.

    With --corpus, the lake has no other corpora.

    Readers see either the previous lake or the new one: a snapshot is written next to the current one, and the manifest
    is replaced by one rename. If anything fails, the lake stays as it was. Files whose rows are the same are not
    written again; the previous snapshot is kept for those who still read it.

    With --delta, each table has a _delta_log next to its files, so that Databricks, Fabric, Trino, Polars and others
    can open it as a Delta Lake table. Every later snapshot has the logs too, with or without --delta.

    With several --db, each corpus comes from the warehouse that has it: corpora can be built on several machines, and
    the lake is the same as that of a single build of all of them.

    With --data, the workers of a Spark cluster read the files themselves and write the tables, and no warehouse is
    made: the lake is the same as after a build of these files. Every worker sees both folders under the same path,
    has the same Talkhouse, and is trusted. If a corpus can't be loaded, the lake stays as it was.

    With --check, every file is hashed, and every table and view is read on Spark and in DuckDB and compared, cell by
    cell. It needs PySpark, the extra "spark". Exit code: 0 if everything is equal, 1 if something differs.

    Examples:
        talkhouse lake /data/lake
        talkhouse lake /data/lake --db of_mpchat.duckdb --db of_mantis.duckdb --dry-run
        talkhouse lake /data/lake --sql mantis.response_ranking --location s3a://bucket/lake
        talkhouse lake /data/lake --check --master spark://host:7077
        talkhouse lake /data/lake --data /data/corpora --master spark://host:7077
    """
    of_writing = ("--db", "--corpus", "--delta", "--dry-run")
    of_data = ("--data", "--follow-links", "--max-quarantine")
    of_check = ("--master", "--remote")
    if sql and check:
        raise UsageError("--sql and --check exclude each other", next_step="leave one of them out")
    if sql:
        options.check_absent([*of_writing, *of_data, *of_check, "--json"], "does not go with --sql")
        _print_sql(lake, view, location)
    elif check:
        options.check_absent([*of_writing, *of_data, "VIEW"], "does not go with --check")
        _check(lake, _engine("--check", master, remote), location, as_json=as_json)
    elif data:
        options.check_absent(["VIEW", "--db", "--location"], "does not go with --data")
        from talkhouse.lake.load_lake import load_lake
        from talkhouse.load.request import QuarantineLimit

        url = _engine("--data", master, remote)
        with _unchanged(), BuildProgress() as progress:
            result = load_lake(
                lake,
                data,
                url,
                progress,
                only=corpus,
                limit=QuarantineLimit(max_quarantine),
                follow_links=follow_links,
                delta=delta,
                dry_run=dry_run,
                corpus_roots=corpus_folders(folders),
            )
        _show(result, as_json=as_json)
    else:
        options.check_absent(["VIEW", "--location"], "goes with --sql")
        options.check_absent(of_data, "goes with --data")
        options.check_absent(of_check, "goes with --check or --data")
        from talkhouse.lake.write_lake import write_lake

        with _unchanged(), ProgressBar() as bar:
            sources = list(warehouses) or [database()]
            result = write_lake(lake, sources, bar, only=list(corpus), delta=delta, dry_run=dry_run)
        _show(result, as_json=as_json)


@contextmanager
def _unchanged() -> Iterator[None]:
    """Say at Ctrl-C that nothing has changed."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the lake is as it was") from None


def _engine(option: str, master: str | None, remote: str | None) -> str:
    url = master or remote
    if not url or (master and remote):
        raise UsageError(f"{option} needs a master or a server", expected="one of --master URL and --remote URL")
    return url


def _check(lake: Path, url: str, location: str | None, *, as_json: bool) -> None:
    """Print how every table and view came out, and end with 1 where one differs."""
    from msgspec import to_builtins

    from talkhouse.spark.check import check

    with ProgressBar() as bar:
        result = check(lake, url, bar, location=location)
    if as_json:
        different = [relation.name for relation in result.different]
        left_out = to_builtins(result.left_out)
        print(visible_json({**asdict(result), "left_out": left_out, "different": different}))
    else:
        rows = sum(relation.rows for relation in result.relations)
        verdict = "[bold red]Different[/]" if result.different else "[bold green]Equal[/]"
        output.print(
            f"{verdict} on Spark {escape(result.spark)}: {len(result.relations)} tables and views, {rows:,} rows, "
            f"{result.files} files, in {result.seconds:.0f} s"
        )
        lines = [relation.difference or relation.name for relation in result.different]
        for line in [*lines, *_left_out_lines(result.left_out)]:
            output.print(f"  {escape(line)}")
    sys.stdout.flush()
    if result.different:
        raise click.exceptions.Exit(1)


def _print_sql(lake: Path, view: str | None, location: str | None) -> None:
    from talkhouse.lake_format.documents import sql

    text = sql(lake, view, location)
    # Elsewhere than on a terminal exactly as it is: it is to be run.
    print(visible(text, lines=True) if sys.stdout.isatty() else text, end="")


def _left_out_lines(views: "Sequence[LeftOutView]") -> list[str]:
    from talkhouse.translation.translate import left_out_lines

    return [f"left out: {line}" for line in left_out_lines(views)]


def _show(result: "LakeResult", *, as_json: bool) -> None:
    """Print what was written and what was kept."""
    from talkhouse.lake.write_lake import LakeOutcome

    if as_json:
        print(visible_json(_described(result)))
        return
    place = escape(str(result.lake))
    output.print(
        {
            LakeOutcome.UNCHANGED: f"Nothing changed: {place} holds this already, in {result.snapshot}",
            LakeOutcome.DRY_RUN: f"[bold]Dry run[/]: nothing was written to {place}. {result.snapshot} would have:",
            LakeOutcome.WRITTEN: f"[bold green]Wrote[/] {place}/{result.snapshot} in {result.seconds:.1f} s:",
        }[result.outcome]
    )
    for line in _lines(result):
        output.print(f"  {escape(line)}")


def _lines(result: "LakeResult") -> list[str]:
    """Return in lines what the lake holds, what was written, and what is no longer there."""
    new, unchanged = [part for part in result.parts if part.is_new], [part for part in result.parts if not part.is_new]
    rows = sum(part.rows for part in result.parts)
    lines = [f"{len({part.table for part in result.parts})} tables, {rows:,} rows of {', '.join(result.corpora)}"]
    if new:
        size = sum(part.bytes or 0 for part in new)
        lines.append(f"new: {sum(part.rows for part in new):,} rows" + (f", {decimal(size)}" if size else ""))
    if unchanged:
        size = sum(part.bytes or 0 for part in unchanged)
        lines.append(f"as before: {sum(part.rows for part in unchanged):,} rows, {decimal(size)}")
    if result.delta:
        lines.append("with a log of Delta for each table")
    if result.removed:
        lines.append(f"no longer there: {', '.join(result.removed)}")
    lines += _left_out_lines(result.left_out)
    lines += [f"damaged, and written again: {path}" for part in result.parts for path in part.damaged]
    lines += result.notes
    if result.recovered:
        lines.append("manifest.json was missing; the snapshots that are there stay")
    if result.left:
        lines.append(f"not of this lake, and left as it is: {', '.join(result.left)}")
    return lines


def _described(result: "LakeResult") -> dict[str, object]:
    from msgspec import to_builtins

    return {
        "outcome": result.outcome,
        "lake": str(result.lake),
        "snapshot": result.snapshot,
        "corpora": result.corpora,
        "removed": result.removed,
        "recovered": result.recovered,
        "notes": result.notes,
        "delta": result.delta,
        "left": result.left,
        "left_out": to_builtins(result.left_out),
        "parts": [part._asdict() for part in result.parts],
    }
