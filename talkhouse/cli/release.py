"""``talkhouse release``: named states of a warehouse, which never change."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, errors, escape, output
from talkhouse.cli.terminal.console import output as messages
from talkhouse.cli.terminal.options import Command, Group
from talkhouse.escaping import visible_json
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database

if TYPE_CHECKING:
    pass

_store = options.path(
    "--store",
    metavar="DIR",
    help="The store of releases. Default: $TALKHOUSE_RELEASES, then the folder releases next to the warehouse.",
)
_name = click.argument("name", metavar="NAME", help="The name of the release, such as 2026-11.")


@click.group(cls=Group)
def command() -> None:
    """Keep states of a warehouse under a name: they never change, can be cited, verified, and used again.

    A release is a manifest and Parquet files of each table and corpus, in a store: the next one writes only what has
    changed. --db release:NAME reads one in every command that reads a warehouse.
    """


@command.command(cls=Command)
@_name
@options.written_db
@_store
@click.option("--note", metavar="TEXT", help="What the manifest says of it.")
@options.corpora
@options.flag("--repair", help="Write files of the store again that are missing or have another size.")
@options.no_wait
@options.dry_run
@options.as_json
def create(
    name: str,
    db: Path | None,
    store: Path | None,
    note: str | None,
    corpus: tuple[str, ...],
    repair: bool,
    no_wait: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make a release of the warehouse, or of some of its corpora.

    Exit code 1 if the name exists, a check of the warehouse fails, or the disk is full; then nothing is left behind.

    Examples:
        talkhouse release create 2026-11 --note "as in the paper"
        talkhouse release create v1.2 --corpus dbdc3 --dry-run
    """
    from talkhouse.releases.create import ReleaseRequest, create
    from talkhouse.releases.store import store_of

    def waiting(holder: str) -> None:
        errors.print(f"waiting for {escape(holder)}")

    request = ReleaseRequest(name, note, corpus, repair, dry_run, not no_wait, waiting)
    created = create(store_of(store, db), database(db), request)
    if as_json:
        print(visible_json(created.data))
    else:
        data = created.data
        rows = sum(table["rows"] for table in data["tables"])
        output.print(
            f"{'Would make' if dry_run else 'Made'} release {escape(data['name'])}, content id {data['content_id']}"
        )
        size = "" if created.new_bytes is None else f", {decimal(created.new_bytes)}"
        files = f"{created.new} files new{size}, {created.old} there already"
        output.print(f"  {len(data['corpora'])} corpora, {rows:,} rows; {files}")


@command.command("list", cls=Command)
@_store
@options.as_json
def list_command(store: Path | None, as_json: bool) -> None:
    """List the releases: name, date, content id, corpora, rows, and the bytes that only they need or others share."""
    from talkhouse.releases.deposit import listed
    from talkhouse.releases.store import store_of

    found = listed(store_of(store))
    if as_json:
        print(visible_json(found))
        return
    if not found:
        output.print("No releases. Make one with: talkhouse release create NAME")
    for release in found:
        output.print(
            f"{escape(release['name'])}  {release['created_at'][:10]}  {release['content_id'][:8]}  "
            f"{', '.join(release['corpora'])}  {release['rows']:,} rows, "
            f"{decimal(release['own_bytes'])} own, {decimal(release['shared_bytes'])} shared"
        )


@command.command(cls=Command)
@_name
@_store
@options.as_json
def show(name: str, store: Path | None, as_json: bool) -> None:
    """Show the manifest of a release."""
    from talkhouse.releases.checkout import find
    from talkhouse.releases.manifest import as_data

    stored = find(name, store)
    if as_json:
        print(visible_json(as_data(stored.release)))
        return
    release = stored.release
    output.print(f"Release {release.name}, made {release.created_at}, content id {release.content_id}")
    lines = [release.note] if release.note else []
    lines.append(
        f"Talkhouse {release.talkhouse_version}, schema {release.schema_revision}, release.json sha256 {stored.sha256}"
    )
    if release.previous:
        lines.append(f"after {release.previous.name}, content id {release.previous.content_id}")
    lines += [
        f"{corpus.corpus_id}  {corpus.title}{' (invented sample)' if corpus.is_sample else ''}, reader "
        f"{corpus.reader_version}, {corpus.licence}, content id {corpus.content_id}"
        for corpus in release.corpora
    ]
    lines += [
        f"{task.task} {' '.join(part for part in (task.release, task.split) if part)}: {task.rows:,} examples"
        for task in release.tasks
    ]
    for line in lines:
        output.print(f"  {escape(line)}")


@command.command(cls=Command)
@click.argument("names", metavar="[NAME]...", nargs=-1, help="The releases; without, all.")
@click.option(
    "--db",
    metavar="FILE|DIR|URL",
    help="Also compare a warehouse, a lake, or a copy in PostgreSQL: it must be of the release's content id.",
)
@_store
@options.as_json
def verify(names: tuple[str, ...], db: str | None, store: Path | None, as_json: bool) -> None:
    """Verify releases: the bytes of their files, then their rows, then their content id.

    Exit code 1 if anything differs; each file is named.
    """
    from talkhouse.releases.objects import POSTGRESQL, differs, verify
    from talkhouse.releases.store import names as all_names
    from talkhouse.releases.store import store_of

    is_file = db is not None and not db.startswith(POSTGRESQL) and Path(db).is_file()
    folder = store_of(store, Path(db) if db and is_file else None)
    found: list[dict[str, Any]] = []
    for name in names or all_names(folder):
        problems = [str(problem) for problem in verify(folder, name)]
        if db is not None and not problems:
            problems += [str(problem) for problem in differs(folder, name, db)]
        found.append({"name": name, "ok": not problems, "problems": problems})
    if as_json:
        print(visible_json(found[0] if len(names) == 1 else found))
    else:
        for release in found:
            verdict = "[green]ok[/]" if release["ok"] else "[red]differs[/]"
            output.print(f"{verdict}  {escape(release['name'])}")
            for problem in release["problems"]:
                output.print(f"      {escape(problem)}")
        if not found:
            output.print("No releases. Make one with: talkhouse release create NAME")
    sys.stdout.flush()
    if not all(release["ok"] for release in found):
        raise click.exceptions.Exit(1)


@command.command(cls=Command)
@_name
@options.path("--output", required=True, metavar="FILE", help="The warehouse to write, such as talkhouse.duckdb.")
@options.force
@_store
def checkout(name: str, output: Path, force: bool, store: Path | None) -> None:
    """Write a release as a warehouse with its rows and views.

    With --force it replaces the file as a build does: in one step, while readers keep the file that they have open.
    This is how a team publishes a release, or goes back to one.

    Examples:
        talkhouse release checkout 2026-11 --output talkhouse.duckdb --force
    """
    from talkhouse.releases.checkout import checkout, find

    stored = find(name, store)
    checkout(stored, output, force=force)
    messages.print(
        f"Checked out release {stored.release.name}, content id {stored.release.content_id}, to {escape(str(output))}"
    )


@command.command(cls=Command)
@click.option("--keep", metavar="NAME", multiple=True, help="A release to keep (may be repeated).")
@options.dry_run
@_store
@options.as_json
def prune(keep: tuple[str, ...], dry_run: bool, store: Path | None, as_json: bool) -> None:
    """Remove every other release, and the files that no release needs; nothing is ever removed automatically.

    Refused while a release to be kept is damaged.
    """
    from talkhouse.releases.deposit import prune
    from talkhouse.releases.store import store_of

    pruned = prune(store_of(store), keep, dry_run=dry_run)
    if as_json:
        print(visible_json(pruned._asdict()))
        return
    output.print(
        f"{'Would remove' if dry_run else 'Removed'} {', '.join(pruned.releases) or 'no release'}, and "
        f"{pruned.objects} files of {decimal(pruned.bytes)}",
        markup=False,
    )


@command.command(cls=Command)
@_name
@options.path("--output", required=True, metavar="FILE.zip", help="The archive to write.")
@options.accept_terms
@options.force
@_store
def export(name: str, output: Path, accept_terms: bool, force: bool, store: Path | None) -> None:
    """Write a release to one archive to deposit, with CITATION.cff and LICENCES.md: the same bytes each time."""
    from talkhouse.releases.checkout import find
    from talkhouse.releases.deposit import export

    if output.suffix.lower() != ".zip":
        raise UsageError("a release is exported to a zip archive", where=output, expected="a name that ends with .zip")
    export(find(name, store), output, is_accepted=accept_terms, force=force)
    messages.print(f"Wrote {escape(str(output))}: {decimal(output.stat().st_size)}")
