"""``talkhouse build``: make the warehouse equal to a data folder, or to the bundled samples."""

from pathlib import Path
from typing import Annotated

import typer

from talkhouse.cli.terminal.completion import corpora
from talkhouse.cli.terminal.console import Database, FollowLinks, InputLimit, MaxMemory, MaxQuarantine, NoWait
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import database


def command(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folder with one folder per corpus, named by its id, holding the publisher's files as they are "
            "(folders, .zip and .tar.gz). Without it, the bundled invented samples are built.",
            show_default=False,
        ),
    ] = None,
    db: Database = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus",
            metavar="ID",
            help="Only this corpus (may be repeated); the others in the warehouse are kept.",
            autocompletion=corpora,
            show_default=False,
        ),
    ] = None,
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
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            metavar="",
            help="Do everything except publish, and list what was recognised, ignored and found.",
        ),
    ] = False,
    no_wait: NoWait = False,
) -> None:
    """Build or refresh the warehouse, and publish it in one step: readers are never blocked.

    A corpus whose files did not change is not read again. A corpus that is no longer in DIR is removed. If
    anything goes wrong, the published warehouse is unchanged.

    Examples:
        talkhouse build

        talkhouse build --data ~/corpora --db corpora.duckdb

        talkhouse build --data ~/corpora --corpus dbdc3
    """
    from talkhouse.build.memory_limit import MemoryLimit
    from talkhouse.build.quarantine_limit import QuarantineLimit
    from talkhouse.build.run import build
    from talkhouse.cli.terminal.summary import show
    from talkhouse.ingest.files.limits import parse

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
        )
    show(result)
