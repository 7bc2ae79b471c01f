"""``talkhouse ingest``: replace one corpus by files, folders or archives."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    check_absent,
)
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.ingest.known.origins import Origin


def command(
    corpus: CorpusId,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="The publisher's files, folders or archives of this corpus."),
    ],
    db: Db = None,
    folders: CorpusFolders = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="What the files are, where there is no corpus.toml: chat, sharegpt, pairs, preference, transcript, "
            "tree, dialogue, turns or convokit.",
            show_default=False,
        ),
    ] = None,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="OURS=THEIRS",
            help="What the files call a field, such as id=conversation_id (may be repeated).",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option("--split", metavar="SPLIT", help="With --format: the split of these files.", show_default=False),
    ] = None,
    max_quarantine: MaxQuarantine = "1%",
    memory_limit: MaxMemory = "10%",
    input_limit: InputLimit = None,
    follow_links: FollowLinks = False,
    no_wait: NoWait = False,
) -> None:
    """Replace one corpus by these files; the other corpora are kept.

    A corpus of your own needs no code: a corpus.toml beside its files says what they are (talkhouse new DIR writes
    one), or --format and --map do.

    Examples:
        talkhouse ingest dbdc3 ~/Downloads/DBDC3.zip ~/Downloads/DBDC3_context.zip

        talkhouse ingest kitchen_chat chats/train.jsonl --format chat --map id=id --split train
    """
    from talkhouse.build.quarantine_limit import QuarantineLimit
    from talkhouse.build.run import ingest
    from talkhouse.cli.terminal.summary import show
    from talkhouse.ingest.files.limits import parse
    from talkhouse.system.memory import MemoryLimit

    roots = corpus_folders(folders)
    if format_name is None:
        check_absent({"--map": maps or [], "--split": split}, "needs --format", "ingest")
    declaration = _declaration(corpus, paths, roots, format_name, maps or [], split)
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
            corpus_roots=roots,
            declaration=declaration,
        )
    show(result)


def _declaration(
    corpus: str, paths: list[Path], roots: tuple[Path, ...], format_name: str | None, maps: list[str], split: str | None
) -> "Origin | None":
    """Find what declares the corpus, where no code does; a known format without a declaration is only guessed at."""
    from talkhouse.build.own_files import declared_beside, declared_by_options, no_declaration
    from talkhouse.ingest.registry import all_corpora

    if format_name is not None:
        return declared_by_options(corpus, format_name, maps, split)
    declaration = declared_beside(corpus, paths)
    if declaration is None and corpus not in all_corpora(roots):
        from talkhouse.guess.folder import looks_like

        if (guessed := looks_like(paths)) is not None:
            raise no_declaration(corpus, paths, guessed)
    return declaration
