"""``talkhouse overlap``: which texts stand in two places, word for word or nearly."""

from pathlib import Path

import click

from talkhouse.cli.terminal import options
from talkhouse.overlap.request import LEAST_THRESHOLD, OverlapRequest, Unit, share
from talkhouse.settings import database
from talkhouse.visible import visible_json

_WORST = 5
"""Examples that are shown."""


@options.command
@options.against
@click.option("--threshold", metavar="T", default="0.7", help="Similarity from which two texts are near: 0.5 to 1.")
@click.option(
    "--contains",
    metavar="SHARE",
    default="0.7",
    help="Share of its runs of 8 tokens that makes a text contained: above 0, to 1.",
)
@click.option(
    "--unit",
    "units",
    type=options.OneOf(Unit),
    multiple=True,
    help="Compare only these (may be repeated). Default: all.",
)
@options.path("--pairs", metavar="FILE", help="Write all pairs, not the best alone; the ending sets the format.")
@options.path("--output", metavar="FILE", help="The file to write. Default: overlap.duckdb beside the warehouse.")
@options.as_json
@click.option("--threads", metavar="N", type=click.IntRange(1, 1024), help="Threads that DuckDB uses. Default: all.")
@options.memory_limit()
@options.force
@options.db
def command(
    against: tuple[str, ...],
    threshold: str,
    contains: str,
    units: tuple[Unit, ...],
    pairs: Path | None,
    output: Path | None,
    as_json: bool,
    threads: int | None,
    memory_limit: str | None,
    force: bool,
    db: Path | None,
) -> None:
    """Find texts that stand in two places: test answers in training data, your own dialogues in a benchmark.

    A place is a split of a release of a corpus, such as dbdc3/dbdc3/eval. All places are compared with each other and
    with themselves: turns with turns and candidates, contexts of examples, whole dialogues, personas. What is found
    goes into overlap.duckdb beside the warehouse, which is not written: for each unit and place the best match, and
    how many there are. It has keys and no text.

    A match is the first of these that holds: same (the dialogue itself is in both places), exact (the same characters),
    normalised (the same words in the same order), near (most pairs of neighbouring words are in both), contains (most
    of its runs of 8 words stand there, in one text or several). Every pair at or above the threshold is found: nothing
    is drawn at random, and the same input gives the same rows. Short and stereotyped texts are phrases, which are
    counted apart: that somebody else says "thank you" too is no evidence. docs/overlap.md explains it.

    With --against, each example of the other places gets a verdict (dialogue, both, turn, context, phrase, clean), and
    some of the worst are shown. A file that is there, of this warehouse and with the same thresholds, is used again;
    --force computes it anew, and replaces also a file that is none of ours.

    Examples:
        talkhouse overlap
        talkhouse overlap --against dbdc3/dbdc3/dev
        talkhouse overlap --against my_logs --unit turn --unit context --json
    """
    from talkhouse.cli.terminal import show_overlap
    from talkhouse.overlap.compute import overlap
    from talkhouse.overlap.read import read, with_texts
    from talkhouse.system.memory import MemoryLimit
    from talkhouse.warehouse.opened import opened

    request = OverlapRequest(
        against,
        share("--threshold", threshold, LEAST_THRESHOLD),
        share("--contains", contains, None),
        units or tuple(Unit),
        pairs=pairs,
        output=output,
        threads=threads,
        memory_limit=None if memory_limit is None else MemoryLimit(memory_limit).text,
        force=force,
    )
    path = overlap(database(db), request)
    if as_json:
        print(visible_json(show_overlap.as_data(read(path))))
        return
    found = read(path, worst=_WORST)
    with opened(database(db)) as warehouse:
        shown = with_texts(warehouse.con, found.worst)
    show_overlap.show(found, shown, path)
