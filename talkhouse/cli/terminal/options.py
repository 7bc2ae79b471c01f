"""How commands are declared, and the options and arguments that several of them have."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from talkhouse.cli.terminal import completion
from talkhouse.cli.terminal.command import Command
from talkhouse.ingest.files.boundary import OPTION
from talkhouse.ingest.files.limits import described
from talkhouse.schema.errors import UsageError
from talkhouse.settings import name_corpus_folders

_Function = TypeVar("_Function", bound=Callable[..., Any])

ROWS = click.IntRange(0, 10**12)
"""A number of rows: more than a warehouse has, and DuckDB can still add to it."""

SECONDS = click.FloatRange(0.001, 10**9)
"""A time: up to 31 years, which every clock can count."""

PATH = click.Path(path_type=Path, readable=False)
"""What reads it says what to do where it may not be read; Click, asking beforehand, would not."""

flag = partial(click.option, is_flag=True)
path = partial(click.option, type=PATH)


def command(function: Callable[..., None]) -> Command:
    """Make a command of a function; Click's own decorator can be used once, since it keeps the first one's help."""
    return click.command(cls=Command)(function)


class OneOf(click.Choice[Any]):
    """One of the values of an enumeration of texts."""

    def normalize_choice(self, choice: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return what the user types for it."""
        return str(choice)


_RELEASE = "release:"


def _read(_: click.Context, __: click.Parameter, db: Path | None) -> Path | None:
    """Return the warehouse that is to be read, of a release the file that it is checked out to."""
    named = str(db or os.environ.get("TALKHOUSE_DB") or "")
    if not named.startswith(_RELEASE):
        return db
    from talkhouse.releases.checkout import resolve

    return resolve(named.removeprefix(_RELEASE))


def read_all(context: click.Context, parameter: click.Parameter, warehouses: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the warehouses that are to be read, of releases the files that they are checked out to."""
    found = [_read(context, parameter, one) for one in warehouses or (None,)]
    return tuple(one for one in found if one is not None)


def _written(_: click.Context, __: click.Parameter, db: Path | None) -> Path | None:
    if str(db or os.environ.get("TALKHOUSE_DB") or "").startswith(_RELEASE):
        raise UsageError(
            "a release never changes",
            expected="a warehouse file: --db FILE",
            next_step="make one of the release with: talkhouse release checkout NAME --output FILE",
        )
    return db


db = path(
    "--db",
    metavar="FILE",
    callback=_read,
    help="The warehouse, or release:NAME. Default: $TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
)
written_db = path(
    "--db",
    metavar="FILE",
    callback=_written,
    help="The warehouse. Default: $TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
)
data = path(
    "--data",
    metavar="DIR",
    help="Folder with one folder per corpus, named by its id, holding the publisher's files as they are "
    "(folders, .zip and .tar.gz), or files of your own with a corpus.toml.",
)


def _named(_: click.Context, __: click.Parameter, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Make the folders known to all that a command does: their corpora's SQL counts in place of the warehouse's."""
    if folders:
        name_corpus_folders(folders)
    return folders


def _corpora(*, expose_value: bool) -> Callable[[_Function], _Function]:
    return click.option(
        "--corpora",
        "folders",
        metavar="DIR",
        type=PATH,
        multiple=True,
        callback=_named,
        expose_value=expose_value,
        help="Folder with corpora of your own, whose code and SQL are used, or the folder of one (may be repeated). "
        "Default: $TALKHOUSE_CORPORA.",
    )


corpus_folders, named_folders = _corpora(expose_value=True), _corpora(expose_value=False)
"""The same option; a command gets the folders, or only what comes from them."""

corpus_id = click.argument(
    "corpus", metavar="CORPUS", shell_complete=completion.corpora, help="Id of the corpus, such as dbdc3."
)
corpus = click.option("--corpus", metavar="ID", shell_complete=completion.corpora, help="Only this corpus.")
corpora = click.option(
    "--corpus",
    metavar="ID",
    multiple=True,
    shell_complete=completion.corpora,
    help="Only this corpus (may be repeated).",
)
relation = click.argument(
    "name",
    metavar="[NAME]",
    required=False,
    shell_complete=completion.relations,
    help="A view or table, such as dbdc3.breakdown_detection.",
)
split = click.option(
    "--split", metavar="SPLIT", help="Only this split: the publisher's name, or train, validation, test."
)
release = click.option(
    "--release", metavar="R", help="Only this one of the publisher's releases, where there are several."
)
subsets = click.option("--subset", metavar="S", multiple=True, help="Only this published folder (may be repeated).")
where = click.option(
    "--where",
    metavar="EXPRESSION",
    help="Only rows for which this SQL expression of the columns is true, such as: turn_index > 2.",
)
against = click.option(
    "--against",
    metavar="PLACE",
    multiple=True,
    help="Where examples may stand too, such as your training data: corpus/release/split, or the beginning of places "
    "up to a slash (may be repeated).",
)
accept_terms = flag("--accept-terms", help="Accept the terms of the corpora, which are shown without it.")
escape_formulas = flag(
    "--escape-formulas", help="In CSV and TSV, put an apostrophe before texts that a spreadsheet takes for formulas."
)
max_quarantine = click.option(
    "--max-quarantine",
    metavar="N|N%",
    default="1%",
    help="Stop instead of publishing when more records of a corpus than this can't be loaded: a count, or a "
    "share of its records. 100% accepts everything.",
)


def memory_limit(default: str | None = None) -> Callable[[_Function], _Function]:
    """Return the option of how much memory DuckDB may take; without a default, that is DuckDB's own."""
    return click.option(
        "--memory-limit",
        metavar="SIZE",
        default=default,
        help="How much memory DuckDB may take: a size such as 2GB, or a share of the machine's memory. What does not "
        "fit is written to the disk.",
    )


input_limit = click.option(
    "--input-limit",
    metavar="NAME=VALUE",
    multiple=True,
    help="Read more of the files than corpora have; only for files that you trust (may be repeated). "
    f"Defaults: {described()}.",
)
follow_links = flag(
    OPTION, help="Also follow links that lead out of the folder that was named; only where you trust whoever made it."
)
no_wait = flag("--no-wait", help="If another build is running, stop and say which, instead of waiting for it.")
dry_run = flag("--dry-run", help="Publish nothing, and show what would be published.")
force = flag("--force", help="Replace existing files.")
as_json = flag("--json", "as_json", help="Print JSON for programs.")


def check_absent(options: Mapping[str, object], problem: str, command: str) -> None:
    """Raise UsageError for the first option that was given; one that was not is None, False or empty."""
    for option, value in options.items():
        if value is not None and value is not False and value != ():
            raise UsageError(f"{option} {problem}", next_step=f"see: talkhouse {command} --help")
