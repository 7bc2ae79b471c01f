"""``talkhouse build``: make the warehouse equal to a data folder, or to the bundled samples."""

from typing import Annotated

import typer

from talkhouse.cli.terminal.options import (
    Corpora,
    CorpusFolders,
    Data,
    Db,
    DryRun,
    FollowLinks,
    InputLimit,
    MaxMemory,
    MaxQuarantine,
    NoWait,
)
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database


def command(
    data: Data = None,
    db: Db = None,
    folders: CorpusFolders = None,
    corpus: Corpora = None,
    rehash: Annotated[
        bool,
        typer.Option(
            "--rehash",
            metavar="",
            help="Compare the bytes of the files with the warehouse, not only size, time and inode.",
        ),
    ] = False,
    max_quarantine: MaxQuarantine = "1%",
    memory_limit: MaxMemory = "10%",
    input_limit: InputLimit = None,
    follow_links: FollowLinks = False,
    dry_run: DryRun = False,
    no_wait: NoWait = False,
) -> None:
    """Build or refresh the warehouse, and publish it in one step: readers are never blocked.

    Without --data, the bundled invented samples are built.

    A corpus whose files did not change is not read again. A corpus that is no longer in DIR is removed; with --corpus,
    the others in the warehouse are kept. If a corpus can't be loaded, the others are published all the same, what the
    warehouse had of it stays, and the exit code is 1. If anything else goes wrong, the published warehouse is
    unchanged.

    What reading the files takes comes on top of --memory-limit. With --dry-run, everything is done except publishing,
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
                only=tuple(corpus or ()),
                rehash=rehash,
                wait=not no_wait,
                limit=QuarantineLimit(max_quarantine),
                memory_limit=MemoryLimit(memory_limit),
                input_limits=parse(input_limit or ()),
                follow_links=follow_links,
                dry_run=dry_run,
                corpus_roots=corpus_folders(folders),
            )
    except TalkhouseError as error:
        if error.built is not None:
            show(error.built)
        raise
    show(result)
