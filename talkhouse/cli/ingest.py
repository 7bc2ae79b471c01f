"""``talkhouse ingest``: replace one corpus by files, folders or archives."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.progress import BuildProgress
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.ingest.known.origins import Origin


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
@options.input_limit
@options.follow_links
@options.no_wait
def command(
    corpus: str,
    paths: tuple[Path, ...],
    db: Path | None,
    folders: tuple[Path, ...],
    format_name: str | None,
    maps: tuple[str, ...],
    split: str | None,
    max_quarantine: str,
    memory_limit: str,
    input_limit: tuple[str, ...],
    follow_links: bool,
    no_wait: bool,
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
        options.check_absent({"--map": maps, "--split": split}, "needs --format", "ingest")
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
            input_limits=parse(input_limit),
            follow_links=follow_links,
            corpus_roots=roots,
            declaration=declaration,
        )
    show(result)


def _declaration(
    corpus: str, paths: list[Path], roots: tuple[Path, ...], format_name: str | None, maps: list[str], split: str | None
) -> "Origin | None":
    """Find what declares the corpus, where no code does; a known format without a declaration is only guessed at."""
    from talkhouse.build.request import declared_beside, declared_by_options, no_declaration
    from talkhouse.ingest.registry import all_corpora

    if format_name is not None:
        return declared_by_options(corpus, format_name, maps, split)
    declaration = declared_beside(corpus, paths)
    if declaration is None and corpus not in all_corpora(roots):
        from talkhouse.guess.guessed_folder import looks_like

        if (guessed := looks_like(paths)) is not None:
            raise no_declaration(corpus, paths, guessed)
    return declaration
