"""``talkhouse build``: make the warehouse equal to a data folder, or to the bundled samples."""

from pathlib import Path

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database


@options.command
@options.data
@options.written_db
@options.corpus_folders
@options.corpora
@options.flag("--rehash", help="Compare the bytes of the files with the warehouse, not only size, time and inode.")
@options.max_quarantine
@options.memory_limit("10%")
@options.input_limit
@options.follow_links
@options.dry_run
@options.no_wait
def command(
    data: Path | None,
    db: Path | None,
    folders: tuple[Path, ...],
    corpus: tuple[str, ...],
    rehash: bool,
    max_quarantine: str,
    memory_limit: str,
    input_limit: tuple[str, ...],
    follow_links: bool,
    dry_run: bool,
    no_wait: bool,
) -> None:
    """Build or refresh the warehouse, and publish it in one step: readers are never blocked.

    Without --data, the bundled invented samples are built.

    A corpus whose files did not change is not read again. A corpus that is no longer in DIR is removed; with --corpus,
    the others in the warehouse are kept. If a corpus can't be loaded, the others are published all the same, what the
    warehouse had of it stays, and the exit code is 1. If anything else goes wrong, the published warehouse is
    unchanged.

    Memory for reading the files comes on top of --memory-limit. With --dry-run, everything is done except publishing,
    and what was recognised, ignored and found is listed.

    Examples:
        talkhouse build
        talkhouse build --data ~/corpora --db corpora.duckdb
        talkhouse build --data ~/corpora --corpus dbdc3
    """
    from talkhouse.build.quarantine_limit import QuarantineLimit
    from talkhouse.build.run import build
    from talkhouse.cli.terminal.summary import show
    from talkhouse.ingest.files.limits import parse
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
                input_limits=parse(input_limit),
                follow_links=follow_links,
                dry_run=dry_run,
                corpus_roots=corpus_folders(folders),
            )
    except TalkhouseError as error:
        if error.built is not None:
            show(error.built)
        raise
    show(result)
