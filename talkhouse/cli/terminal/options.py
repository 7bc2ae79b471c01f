"""The options and arguments that several commands have, each declared once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from talkhouse.cli.terminal.completion import corpora, relations
from talkhouse.ingest.files.boundary import OPTION
from talkhouse.ingest.files.limits import described
from talkhouse.schema.errors import UsageError
from talkhouse.settings import name_corpus_folders

MOST_ROWS = 10**12
"""Of an option that counts rows: more than a warehouse has, and DuckDB can still add to it."""

MOST_SECONDS = 10**9
"""Of an option that is a time: 31 years, which every clock can count."""

Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="The warehouse. Default: $TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
        show_default=False,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder with one folder per corpus, named by its id, holding the publisher's files as they are "
        "(folders, .zip and .tar.gz), or files of your own with a corpus.toml.",
        show_default=False,
    ),
]


def _named(folders: list[Path] | None) -> list[Path] | None:
    """Make the folders known to all that a command does: their corpora's SQL counts in place of the warehouse's."""
    if folders:
        name_corpus_folders(folders)
    return folders


CorpusFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpora",
        metavar="DIR",
        callback=_named,
        help="Folder with corpora of your own, whose code and SQL are used, or the folder of one (may be repeated). "
        "Default: $TALKHOUSE_CORPORA.",
        show_default=False,
    ),
]
CorpusId = Annotated[
    str, typer.Argument(metavar="CORPUS", help="Id of the corpus, such as dbdc3.", autocompletion=corpora)
]
Corpus = Annotated[
    str | None,
    typer.Option("--corpus", metavar="ID", help="Only this corpus.", autocompletion=corpora, show_default=False),
]
Corpora = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="ID",
        help="Only this corpus (may be repeated).",
        autocompletion=corpora,
        show_default=False,
    ),
]
Relation = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="A view or table, such as dbdc3.breakdown_detection.",
        autocompletion=relations,
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="SPLIT",
        help="Only this split: the publisher's name, or train, validation, test.",
        show_default=False,
    ),
]
Release = Annotated[
    str | None,
    typer.Option("--release", metavar="R", help="Only this release, where there are several.", show_default=False),
]
Subsets = Annotated[
    list[str] | None,
    typer.Option("--subset", metavar="S", help="Only this published folder (may be repeated).", show_default=False),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="EXPRESSION",
        help="Only rows of which this SQL expression of the columns is true, such as: turn_index > 2.",
        show_default=False,
    ),
]
AcceptTerms = Annotated[
    bool,
    typer.Option("--accept-terms", metavar="", help="Accept the terms of the corpora, which are shown without it."),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        metavar="",
        help="In CSV and TSV, put an apostrophe before texts that a spreadsheet takes for formulas.",
    ),
]
MaxQuarantine = Annotated[
    str,
    typer.Option(
        "--max-quarantine",
        metavar="N|N%",
        help="Stop instead of publishing when more records of a corpus than this can't be loaded: a count, or a "
        "share of its records. 100% accepts everything.",
    ),
]

_MEMORY_LIMIT = typer.Option(
    "--memory-limit",
    metavar="SIZE",
    help="How much memory DuckDB may take: a size such as 2GB, or a share of the machine's memory. What does not fit "
    "is written to the disk.",
)
MaxMemory = Annotated[str, _MEMORY_LIMIT]
OptionalMaxMemory = Annotated[str | None, _MEMORY_LIMIT]
"""Without it, the limit is DuckDB's own."""

InputLimit = Annotated[
    list[str] | None,
    typer.Option(
        "--input-limit",
        metavar="NAME=VALUE",
        help=f"Read more of the files than corpora have; only for files that you trust (may be repeated). "
        f"Defaults: {described()}.",
        show_default=False,
    ),
]
FollowLinks = Annotated[
    bool,
    typer.Option(
        OPTION,
        metavar="",
        help="Also follow links that lead out of the folder that was named; only where you trust whoever made it.",
    ),
]
NoWait = Annotated[
    bool,
    typer.Option(
        "--no-wait", metavar="", help="If another build is running, stop and say which, instead of waiting for it."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", metavar="", help="Publish nothing, and show what would be published.")
]
Force = Annotated[bool, typer.Option("--force", metavar="", help="Replace existing files.")]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON for programs.")]


def check_absent(options: Mapping[str, object], problem: str, command: str) -> None:
    """Raise UsageError for the first option that was given; one that was not is None, False or empty."""
    for option, value in options.items():
        if value is not None and value is not False and value != []:
            raise UsageError(f"{option} {problem}", next_step=f"see: talkhouse {command} --help")
