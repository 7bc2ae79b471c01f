"""``talkhouse replay``: read the quarantine again after a reader or a rule has changed."""

from pathlib import Path
from typing import TYPE_CHECKING

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import errors, escape, output
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.replay.run import Replayed, ReplayResult

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
def command(
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
    from talkhouse.build.quarantine_limit import QuarantineLimit
    from talkhouse.ingest.files.limits import parse
    from talkhouse.replay.run import replay
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
            on_write_back=_print_write_back,
        )
    _show(result)


def _print_write_back(corpus: str) -> None:
    errors.print(f"writing {corpus} back from the warehouse")


def _show(result: "ReplayResult") -> None:
    """Print what passed, what is still refused and what is newly refused, and whether it was published."""
    if not result.corpora:
        output.print("Nothing is in quarantine; the warehouse is unchanged.", soft_wrap=True)
        return
    for replayed in result.corpora:
        _show_corpus(replayed)
    if result.is_published:
        output.print(f"[bold green]Published[/] {escape(str(result.path))}", soft_wrap=True)
    elif any(replayed.tables for replayed in result.corpora):
        output.print("[bold]Dry run[/]: nothing was published.", soft_wrap=True)
    else:
        output.print("Nothing changed; the warehouse is unchanged.", soft_wrap=True)


def _show_corpus(replayed: "Replayed") -> None:
    before, after = replayed.loaded
    rules = ", ".join(f"{rule}: {count:,}" for rule, count in sorted(replayed.refused.items()))
    output.print(f"[bold]{escape(replayed.corpus_id)}[/]", soft_wrap=True)
    output.print(f"  in quarantine before: {replayed.quarantined:,}", soft_wrap=True)
    output.print(f"  passed now: {replayed.passed:,}", soft_wrap=True)
    output.print(f"  still refused: {replayed.refused.total():,}{f' ({rules})' if rules else ''}", soft_wrap=True)
    if replayed.newly:
        output.print(f"  [red]newly refused: {len(replayed.newly):,}[/] (loaded before)", soft_wrap=True)
    for record in replayed.newly[:_SHOWN]:
        location = f"{record.file}{'#' + record.pointer if record.pointer else ''}"
        output.print(f"    {escape(record.rule)} {escape(location)}: {escape(record.detail)}", soft_wrap=True)
    if len(replayed.newly) > _SHOWN:
        output.print(
            f"    ... and {len(replayed.newly) - _SHOWN:,} more (meta.quarantine has them all)", soft_wrap=True
        )
    if replayed.tables:
        output.print(f"  records loaded: {after:,} instead of {before:,}", soft_wrap=True)
        output.print(f"  tables with other rows: {', '.join(replayed.tables)}", soft_wrap=True)
