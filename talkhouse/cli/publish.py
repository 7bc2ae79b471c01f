"""``talkhouse publish``: a copy of the warehouse in PostgreSQL, for tools and people that speak it."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.completion import relations
from talkhouse.cli.terminal.console import escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.personal import PersonalData
from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.postgres.column_types import Proof
    from talkhouse.postgres.plan import PublicationPlan
    from talkhouse.postgres.publish import PublicationResult, Verified
    from talkhouse.warehouse.opened import Warehouse


@options.command
@click.argument("url", metavar="URL", help="The database, as libpq takes it: postgresql://ROLE@HOST/DATABASE.")
@click.option(
    "--schema-prefix",
    "prefix",
    metavar="P",
    default="",
    show_default=False,
    help="What stands before the name of each schema: P_ makes P_main, P_bi ...",
)
@click.option(
    "--views",
    metavar="NAME",
    multiple=True,
    shell_complete=relations,
    help="Only this view, with those of its splits, or the views of this schema, such as bi (may be repeated). "
    "Default: all.",
)
@options.flag("--without-views", help="Only the tables.")
@click.option(
    "--max-rows",
    metavar="N",
    type=options.ROWS,
    default=5_000_000,
    help="Leave out views with more rows, unless --views names them.",
)
@click.option(
    "--replace-nul",
    metavar="TEXT",
    help="What stands in texts for the character NUL, which PostgreSQL can't store; may be empty. "
    "Without it, such texts are listed and nothing is copied.",
)
@click.option("--grant-select", metavar="ROLE", help="Let this role read everything that is published.")
@options.personal
@options.dry_run
@options.flag("--force", help="Publish again even though nothing has changed.")
@options.flag("--verify", help="Compare what is published with the warehouse, as after each publication.")
@options.memory_limit("50%")
@options.db
@options.named_folders
@options.as_json
def command(
    url: str,
    prefix: str,
    views: tuple[str, ...],
    without_views: bool,
    max_rows: int,
    replace_nul: str | None,
    grant_select: str | None,
    personal: PersonalData,
    dry_run: bool,
    force: bool,
    verify: bool,
    memory_limit: str,
    db: Path | None,
    as_json: bool,
) -> None:
    r"""Publish a copy of the warehouse in PostgreSQL, for tools and people that use it.

    The tables have their keys, relations, indexes and comments there. Each view is a table of its rows, in the
    published order; the view of a split is a view of that table. Lists are arrays, lists of lists are jsonb. Macros are
    not there.

    Readers see either the previous copy or the new one: everything is loaded next to it, counted and hashed, compared
    with the warehouse, and put in its place in one transaction. In a copy of a million rows or more, only what is new,
    has changed or is gone is written, where it is and as readers see it, unless the files that changed have more than a
    quarter of the rows. If anything fails, the previous copy stays. The schemas of the copy (main, meta, bi, one for
    each corpus) belong to it as a whole; keep your own views in other schemas. Those of the role that publishes, and
    rights that were granted, are carried over to the new copy; what could not be carried over is listed. If the
    warehouse and the options have not changed, nothing is done.

    The role needs the right to create schemas in the database, and no others. Publish as the same role each time: what
    belongs to another is neither read nor replaced. Its password is best kept in ~/.pgpass,
    or given by $PGPASSWORD; service files and sslmode work as in psql. "\d+ main.turns" in psql shows all of this.

    --redact publishes texts with marks such as <email> in place of personal data, as talkhouse export does, also with
    --verify. Without it, the command stops if texts of a corpus of your own have any, unless --keep-personal-data is
    given.

    Exit code of --verify: 0 if everything is equal, 1 if something differs.

    Examples:
        talkhouse publish postgresql://loader@db.example.org/warehouse --grant-select analysts
        talkhouse publish "postgresql://loader@db.example.org/warehouse?sslmode=verify-full" --views bi --dry-run
        talkhouse publish postgresql://loader@db.example.org/warehouse --verify
    """
    if without_views and views:
        raise UsageError("--views and --without-views exclude each other", next_step="leave one of them out")
    if replace_nul is not None:
        check_unicode(replace_nul, "--replace-nul")
    if verify and (views or without_views or replace_nul is not None or grant_select or dry_run or force):
        raise UsageError(
            "--verify compares what is published, whatever was asked for then",
            next_step="leave the other options out, except --schema-prefix, --memory-limit, --redact, --db and --json",
        )
    try:
        from talkhouse.postgres.plan import Options
        from talkhouse.postgres.publish import publish
        from talkhouse.postgres.publish import verify as compare
    except ImportError as error:
        raise UsageError("this needs a driver for PostgreSQL; type: pip install 'talkhouse[postgres]'") from error

    with _working(db, memory_limit, personal) as (warehouse, bar):
        if verify:
            compared = compare(warehouse, url, prefix, bar)
        else:
            is_redacted = personal is PersonalData.REDACT
            options = Options(prefix, views, without_views, max_rows, replace_nul, is_redacted=is_redacted)
            result = publish(
                warehouse, url, options, bar, personal=personal, grant_select=grant_select, dry_run=dry_run, force=force
            )
    if verify:
        _show_comparison(compared, as_json=as_json)
    else:
        _show(result, as_json=as_json)


@contextmanager
def _working(db: Path | None, memory_limit: str, personal: PersonalData) -> "Iterator[tuple[Warehouse, ProgressBar]]":
    """Open the warehouse, show progress, and end at Ctrl-C with what is in the database."""
    from talkhouse.personal.redact import opened_for
    from talkhouse.system.files import temporary_folder
    from talkhouse.system.memory import MemoryLimit

    memory = MemoryLimit(memory_limit)
    try:
        with temporary_folder() as folder:
            settings = {"memory_limit": memory.text, "temp_directory": str(folder / "sorting")}
            with opened_for(database(db), personal, settings=settings) as warehouse, ProgressBar() as bar:
                yield warehouse, bar
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; what was published before is unchanged") from None


def _show(result: "PublicationResult", *, as_json: bool) -> None:
    """Print what was published, what was left out, and what could not be kept."""
    from talkhouse.postgres.publish import PublicationOutcome

    if as_json:
        described = {
            "outcome": result.outcome,
            "database": result.place,
            "published_at": result.published_at,
            "relations": _proofs(result.plan, result.proofs),
            "changed_rows": result.changed_rows,
            "left_out": [asdict(view) for view in result.plan.left_out],
            "notes": result.notes,
        }
        print(visible_json(described))
        return
    place, since = escape(result.place), f"{result.published_at:%Y-%m-%d %H:%M} UTC" if result.published_at else ""
    output.print(
        {
            PublicationOutcome.UNCHANGED: f"Nothing changed: {place} has this copy since {since}",
            PublicationOutcome.DRY_RUN: f"[bold]Dry run[/]: nothing was published to {place}. The copy would have:",
            PublicationOutcome.PUBLISHED: f"[bold green]Published[/] to {place} in {result.seconds:.1f} s, "
            + (
                "every table and view equal to the warehouse's by rows and hash:"
                if result.changed_rows is None
                else f"{result.changed_rows:,} rows written or deleted, equal to the warehouse's by hash:"
            ),
        }[result.outcome]
    )
    if result.plan.relations:
        _show_plan(result.plan)
    for note in result.notes:
        output.print(f"[yellow]note:[/] {escape(visible(note))}")


def _show_plan(plan: "PublicationPlan") -> None:
    from talkhouse.postgres.plan import RelationKind

    counts = Counter(relation.kind for relation in plan.relations)
    rows = sum(relation.rows for relation in plan.relations if relation.kind is not RelationKind.SPLIT)
    output.print(
        f"  {counts[RelationKind.TABLE]} tables, {counts[RelationKind.ROWS]} views as tables of their rows, "
        f"{counts[RelationKind.SPLIT]} views of splits; {rows:,} rows"
    )
    for relation in plan.left_out:
        output.print(f"  left out: {escape(relation.name)}, {relation.rows:,} rows: {escape(relation.reason)}")


def _proofs(plan: "PublicationPlan", proofs: "Iterable[Proof]") -> list[dict[str, Any]]:
    """Describe each relation: with its hash, except before it is published."""
    return [
        {"name": relation.name, "kind": relation.kind, "rows": relation.rows, "hash": proof and proof.hash}
        for relation, proof in zip_longest(plan.relations, proofs)
    ]


def _show_comparison(verified: "Verified", *, as_json: bool) -> None:
    """Print whether the copy is equal, and end with 1 where it is not."""
    if as_json:
        different = [{"name": difference.name, "difference": str(difference)} for difference in verified.differences]
        described = {
            "database": verified.place,
            "relations": _proofs(verified.plan, verified.proofs),
            "different": different,
        }
        print(visible_json(described))
    elif verified.differences:
        output.print(f"[bold red]Different[/] in {escape(verified.place)}:")
        for difference in verified.differences:
            output.print(f"  {escape(visible(str(difference)))}")
        output.print("  publish again with: talkhouse publish URL --force")
    else:
        output.print(f"[bold green]Equal[/] in {escape(verified.place)}, by rows and hash:")
        _show_plan(verified.plan)
    sys.stdout.flush()
    if verified.differences:
        raise click.exceptions.Exit(1)
