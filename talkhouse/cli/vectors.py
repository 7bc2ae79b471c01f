"""``talkhouse vectors``: keep a vector for each turn, so that turns can be found by what they mean."""

from pathlib import Path

import click
from click.core import ParameterSource

from talkhouse.cli.terminal import options
from talkhouse.ingest.files.limits import LIMIT_OPTION, parse
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database
from talkhouse.visible import visible


@options.command
@click.argument("file", metavar="FILE", type=options.PATH, required=False, help="A Parquet or Arrow file of vectors.")
@options.model
@options.flag("--download", help="Fetch the model from the Hugging Face Hub where --model is no folder, but its name.")
@options.input_limit
@options.db
def command(
    file: Path | None, model: str | None, download: bool, input_limit: tuple[str, ...], db: Path | None
) -> None:
    """Keep a vector for each turn, beside the warehouse, to find turns by what they mean.

    FILE has the columns dialogue_id, turn_index and vector: a list of floats or doubles, as many for each turn. It may
    have x and y, the place of each turn on the map, such as UMAP computes it; otherwise the map is made of the first
    two principal components. Any library or service can make the vectors.

    With --model they are made here, of the text of each turn. The folder is read without the network. A model that is
    not on this machine is fetched only with --download, into the cache of Hugging Face.

    The vectors are written to NAME.vectors.duckdb, each divided by its length. Turns without a vector, vectors of no
    turn here and those of zeros are counted and left out. After another build they are made again by the same command;
    the file can be deleted at any time. talkhouse sql has it as vectors.vectors.

    Needs NumPy, and --model model2vec: pip install 'talkhouse[embeddings]'

    Examples:
        talkhouse vectors vectors.parquet
        talkhouse vectors --model models/potion-base-8M
        talkhouse search --like dbdc3:CIC9001#4 --by meaning
    """
    if file is not None and click.get_current_context().get_parameter_source("model") is ParameterSource.ENVIRONMENT:
        model = None
    if (file is None) == (model is None):
        raise UsageError("name either a file or a model", next_step="talkhouse vectors FILE, or --model FOLDER")
    if download and model is None:
        raise UsageError("--download is for a model", next_step="add --model NAME")
    if file is None:
        options.check_absent({LIMIT_OPTION: input_limit}, "goes with FILE", "vectors")
    from talkhouse.explore.given_vectors import named
    from talkhouse.explore.turn_vectors import make_by_model, make_from_file

    if file is not None:
        made = make_from_file(database(db), file, parse(input_limit))
    else:
        from talkhouse.explore.text_model import open_model

        made = make_by_model(database(db), open_model(str(model), download=download))
    there = visible(str(made.path))
    print(f"Kept the vectors of {_count(made.vectors, 'turn')}, of {made.dimensions:,} numbers each: {there}")
    for (number, first), what in (
        (made.without, "without a vector"),
        (made.unknown, "with a vector, but not in this warehouse"),
        (made.zero, "with a vector of zeros, which points nowhere"),
    ):
        if number:
            print(f"  {_count(number, 'turn')} {what}: {visible(named((number, first)))}")
    click.echo("Next: talkhouse search --like DIALOGUE_ID#TURN_INDEX --by meaning", err=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
