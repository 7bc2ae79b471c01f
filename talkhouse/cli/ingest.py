"""``talkhouse ingest``: replace one corpus by files, folders or archives."""

from pathlib import Path
from typing import Annotated

import typer

from talkhouse.cli.terminal.options import (
    CorpusFolders,
    CorpusId,
    Db,
    FollowLinks,
    InputLimit,
    MaxMemory,
    MaxQuarantine,
    NoWait,
)
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database


def command(
    corpus: CorpusId,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="The publisher's files, folders or archives of this corpus."),
    ],
    db: Db = None,
    folders: CorpusFolders = None,
    max_quarantine: MaxQuarantine = "1%",
    memory_limit: MaxMemory = "10%",
    input_limit: InputLimit = None,
    follow_links: FollowLinks = False,
    no_wait: NoWait = False,
) -> None:
    """Replace one corpus by these files; the other corpora are kept.

    Example:
        talkhouse ingest dbdc3 ~/Downloads/DBDC3.zip ~/Downloads/DBDC3_context.zip
    """
    from talkhouse.build.quarantine_limit import QuarantineLimit
    from talkhouse.build.run import ingest
    from talkhouse.cli.terminal.summary import show
    from talkhouse.ingest.files.limits import parse
    from talkhouse.system.memory import MemoryLimit

    with BuildProgress() as progress:
        result = ingest(
            database(db),
            progress,
            corpus,
            paths,
            wait=not no_wait,
            limit=QuarantineLimit(max_quarantine),
            memory_limit=MemoryLimit(memory_limit),
            input_limits=parse(input_limit or ()),
            follow_links=follow_links,
            corpus_roots=corpus_folders(folders),
        )
    show(result)
