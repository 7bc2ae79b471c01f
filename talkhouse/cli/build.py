"""``talkhouse build``, ``ingest`` and ``replay``: what makes the warehouse, or brings it up to date."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import errors, escape, output
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.ingest.registry.origins import CorpusOrigin
    from talkhouse.replay import Replayed, ReplayResult


@options.command
@options.data
@options.written_db
@options.corpus_folders
@options.corpora
@click.option(
    "--remove",
    metavar="ID",
    multiple=True,
    help="Remove this corpus, whose files are no longer in the data folder (may be repeated).",
)
@options.flag("--compact", help="Rewrite all rows, so that the file has no unused space, even if nothing changed.")
@options.flag("--rehash", help="Compare the bytes of the files with the warehouse, not only size, time and inode.")
@options.max_quarantine
@options.memory_limit("10%")
@options.jobs
@options.input_limit
@options.follow_links
@options.dry_run
@options.no_wait
def build_command(
    data: Path | None,
    db: Path | None,
    folders: tuple[Path, ...],
    corpus: tuple[str, ...],
    remove: tuple[str, ...],
    compact: bool,
    rehash: bool,
    max_quarantine: str,
    memory_limit: str,
    jobs: int | None,
    input_limit: tuple[str, ...],
    follow_links: bool,
    dry_run: bool,
    no_wait: bool,
) -> None:
    """Build or refresh the warehouse, and publish it in one step: readers are never blocked.

    Without --data, the bundled invented samples are built.

    A corpus whose files did not change is not read again. Of the files that a corpus.toml declares, only new and
    changed ones are read, unless their rows depend on others: the output says how many. With --corpus, the other
    corpora in the warehouse are kept. If a corpus of the warehouse has no folder in DIR, the build stops, unless
    --remove names it. If a corpus can't be loaded, the others are published all the same, what the warehouse had of it
    stays, and the exit code is 1. If anything else goes wrong, the published warehouse is unchanged. What it replaces
    is deleted: talkhouse release create keeps it.

    Memory for reading the files comes on top of --memory-limit, for each process that reads (--jobs). With --dry-run,
    everything except publishing is done, and what was recognised, ignored and found is listed.

    Examples:
        talkhouse build
        talkhouse build --data ~/corpora --db corpora.duckdb
        talkhouse build --data ~/corpora --corpus dbdc3
    """
    from talkhouse.cli.contents import show_build
    from talkhouse.ingest.files.limits import parse
    from talkhouse.load.request import QuarantineLimit
    from talkhouse.load.run import build
    from talkhouse.schema.errors import TalkhouseError
    from talkhouse.system.memory import MemoryLimit

    try:
        with BuildProgress() as progress:
            result = build(
                database(db),
                progress,
                data=data,
                only=corpus,
                rehash=rehash,
                wait=not no_wait,
                limit=QuarantineLimit(max_quarantine),
                memory_limit=MemoryLimit(memory_limit),
                jobs=jobs,
                input_limits=parse(input_limit),
                follow_links=follow_links,
                dry_run=dry_run,
                compact=compact,
                corpus_roots=corpus_folders(folders),
                remove=remove,
            )
    except TalkhouseError as error:
        if error.built is not None:
            show_build(error.built)
        raise
    show_build(result)


@options.command
@options.corpus_id
@click.argument(
    "paths",
    metavar="PATH...",
    type=options.PATH,
    nargs=-1,
    required=True,
    help="The publisher's files, folders or archives of this corpus.",
)
@options.written_db
@options.corpus_folders
@click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    help="What the files are, where there is no corpus.toml: chat, sharegpt, pairs, preference, transcript, "
    "tree, dialogue, turns or convokit.",
)
@click.option(
    "--map",
    "maps",
    metavar="OURS=THEIRS",
    multiple=True,
    help="What the files call a field, such as id=conversation_id (may be repeated).",
)
@click.option("--split", metavar="SPLIT", help="With --format: the split of these files.")
@options.max_quarantine
@options.memory_limit("10%")
@options.jobs
@options.input_limit
@options.follow_links
@options.no_wait
def ingest_command(
    corpus: str,
    paths: tuple[Path, ...],
    db: Path | None,
    folders: tuple[Path, ...],
    format_name: str | None,
    maps: tuple[str, ...],
    split: str | None,
    max_quarantine: str,
    memory_limit: str,
    jobs: int | None,
    input_limit: tuple[str, ...],
    follow_links: bool,
    no_wait: bool,
) -> None:
    """Replace one corpus by these files; the other corpora are kept.

    A corpus of your own needs no code: a corpus.toml next to its files says what they are (talkhouse new DIR writes
    one), or --format and --map do.

    Examples:
        talkhouse ingest dbdc3 ~/Downloads/DBDC3.zip ~/Downloads/DBDC3_context.zip
        talkhouse ingest kitchen_chat chats/train.jsonl --format chat --map id=id --split train
    """
    from talkhouse.cli.contents import show_build
    from talkhouse.ingest.files.limits import parse
    from talkhouse.load.request import QuarantineLimit
    from talkhouse.load.run import ingest
    from talkhouse.system.memory import MemoryLimit

    roots = corpus_folders(folders)
    if format_name is None:
        options.check_absent(["--map", "--split"], "needs --format")
    declaration = _declaration(corpus, [*paths], roots, format_name, [*maps], split)
    with BuildProgress() as progress:
        result = ingest(
            database(db),
            progress,
            corpus,
            [*paths],
            wait=not no_wait,
            limit=QuarantineLimit(max_quarantine),
            memory_limit=MemoryLimit(memory_limit),
            jobs=jobs,
            input_limits=parse(input_limit),
            follow_links=follow_links,
            corpus_roots=roots,
            declaration=declaration,
        )
    show_build(result)


def _declaration(
    corpus: str, paths: list[Path], roots: tuple[Path, ...], format_name: str | None, maps: list[str], split: str | None
) -> "CorpusOrigin | None":
    """Find what declares the corpus, where no code does; a known format without a declaration is only guessed at."""
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.load.request import declared_beside, declared_by_options, no_declaration

    if format_name is not None:
        return declared_by_options(corpus, format_name, maps, split)
    declaration = declared_beside(corpus, paths)
    if declaration is None and corpus not in all_corpora(roots):
        from talkhouse.guess.guessed_folder import looks_like

        if (guessed := looks_like(paths)) is not None:
            raise no_declaration(corpus, paths, guessed)
    return declaration


_SHOWN = 5


@options.command
@options.corpora
@options.written_db
@options.corpus_folders
@options.max_quarantine
@options.memory_limit("10%")
@options.input_limit
@options.dry_run
@options.no_wait
def replay_command(
    corpus: tuple[str, ...],
    db: Path | None,
    folders: tuple[Path, ...],
    max_quarantine: str,
    memory_limit: str,
    input_limit: tuple[str, ...],
    dry_run: bool,
    no_wait: bool,
) -> None:
    """Read quarantined records again, after a reader or a rule has changed, and load what passes now.

    Only the warehouse is needed: corpora with records in quarantine are restored from it and read again as a whole,
    since the records of a corpus depend on each other. The others are kept. A new warehouse is published, in one step,
    only if something changed; records that were loaded and are refused now are listed too.

    Examples:
        talkhouse replay --dry-run
        talkhouse replay --corpus dbdc3
    """
    from talkhouse.ingest.files.limits import parse
    from talkhouse.load.request import QuarantineLimit
    from talkhouse.replay import replay
    from talkhouse.system.memory import MemoryLimit

    path = database(db)
    with BuildProgress() as progress:
        result = replay(
            path,
            progress,
            only=corpus,
            wait=not no_wait,
            limit=QuarantineLimit(max_quarantine),
            memory_limit=MemoryLimit(memory_limit),
            input_limits=parse(input_limit),
            dry_run=dry_run,
            corpus_roots=corpus_folders(folders),
            on_write_back=lambda corpus_id: errors.print(f"writing {corpus_id} back from the warehouse"),
        )
    _show(result)


def _show(result: "ReplayResult") -> None:
    """Print what passed, what is still refused and what is newly refused, and whether it was published."""
    if not result.corpora:
        output.print("Nothing is in quarantine; the warehouse is unchanged.")
        return
    for replayed in result.corpora:
        _show_corpus(replayed)
    if result.is_published:
        output.print(f"[bold green]Published[/] {escape(str(result.path))}")
    elif any(replayed.tables for replayed in result.corpora):
        output.print("[bold]Dry run[/]: nothing was published.")
    else:
        output.print("Nothing changed; the warehouse is unchanged.")


def _show_corpus(replayed: "Replayed") -> None:
    before, after = replayed.loaded
    rules = ", ".join(f"{rule}: {count:,}" for rule, count in sorted(replayed.refused.items()))
    output.print(f"[bold]{escape(replayed.corpus_id)}[/]")
    output.print(f"  in quarantine before: {replayed.quarantined:,}")
    output.print(f"  passed now: {replayed.passed:,}")
    output.print(f"  still refused: {replayed.refused.total():,}{f' ({rules})' if rules else ''}")
    if replayed.newly:
        output.print(f"  [red]newly refused: {len(replayed.newly):,}[/] (loaded before)")
    for record in replayed.newly[:_SHOWN]:
        location = f"{record.file}{'#' + record.pointer if record.pointer else ''}"
        output.print(f"    {escape(record.rule)} {escape(location)}: {escape(record.detail)}")
    if len(replayed.newly) > _SHOWN:
        output.print(f"    ... and {len(replayed.newly) - _SHOWN:,} more (meta.quarantine has them all)")
    if replayed.tables:
        output.print(f"  records loaded: {after:,} instead of {before:,}")
        output.print(f"  tables with other rows: {', '.join(replayed.tables)}")


@options.command
@options.written_db
@options.no_wait
def migrate_command(db: Path | None, no_wait: bool) -> None:
    """Bring a warehouse of an older Talkhouse to today's schema and views, and do nothing else: no file is read.

    A copy replaces it in one step; readers are never blocked. Its rows stay as they are, also those of corpora whose
    files are gone; views that you have added yourself are not kept. What a newer reader would read otherwise needs the
    files: talkhouse build.

    Examples:
        talkhouse migrate
        talkhouse migrate --db corpora.duckdb
    """
    from talkhouse.load.renew import migrate

    path = database(db)
    changed = migrate(path, lambda text: errors.print(escape(text)), wait=not no_wait)
    output.print(f"{'Migrated' if changed else 'Nothing to do for'} {escape(str(path))}")
