"""How commands are declared and end, and the options and arguments that several of them have."""

import errno
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from talkhouse.api.options import to_read, to_write
from talkhouse.cli.terminal import completion
from talkhouse.cli.terminal.console import reader_has_left
from talkhouse.ingest.files.limits import LINKS_OPTION, described
from talkhouse.personal import PersonalData
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database, name_corpus_folders
from talkhouse.system import ctrl_c


class _Help(click.HelpFormatter):
    """Writes help: terms and headings in colours, which Click drops where there is no terminal."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        super().write_usage(prog, args, prefix or click.style("Usage: ", bold=True))

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        super().write_heading(click.style(heading, bold=True))

    def write_text(self, text: str) -> None:
        """Write paragraphs; an indented line, such as an example, stays as it is, to be copied."""
        indent = " " * self.current_indent
        for number, paragraph in enumerate(text.split("\n\n")):
            head, *indented = paragraph.split("\n    ")
            self.write("\n" * bool(number))
            super().write_text(head)
            self.write("".join(f"{indent}    {line.strip()}\n" for line in indented))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:  # type: ignore[override]
        """Write terms with what they mean."""
        super().write_dl([(click.style(term, fg="cyan"), text) for term, text in rows], col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Help


class Group(click.Group):
    """Some commands under one name."""

    context_class = _Context


class Command(click.Command):
    """A command: one line at Ctrl-C, none where the reader of its output has left, and no traceback of a bad file."""

    context_class = _Context

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 - it wraps, and is never cut
        """Return the first paragraph of the help."""
        return " ".join(inspect.cleandoc(self.help or "").partition("\n\n")[0].split())

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _quiet_end(), ctrl_c.raises():
            try:
                return super().invoke(ctx)
            except Exception:
                if "duckdb" not in sys.modules:
                    raise
                from talkhouse.schema import warehouse

                path = ctx.params.get("db")
                with warehouse.explain_failures(database(path)):
                    raise


@contextmanager
def _quiet_end() -> Iterator[None]:
    """End without a traceback at Ctrl-C, with 130, and where the reader of the output has left, with 0."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        click.echo(str(interrupt) or "interrupted", err=True)
        raise click.exceptions.Exit(130) from None
    except OSError as error:
        # A terminal that is gone raises EIO.
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        raise reader_has_left() from None


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
        """Return the option as the user types it."""
        return str(choice)


def _read(_: click.Context, __: click.Parameter, db: Path | None) -> Path | None:
    """Return the warehouse that is to be read, of a release the file that it is checked out to."""
    return to_read(db)


def read_all(context: click.Context, parameter: click.Parameter, warehouses: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the warehouses that are to be read, of releases the files that they are checked out to."""
    found = [_read(context, parameter, path) for path in warehouses or (None,)]
    return tuple(path for path in found if path is not None)


db = path(
    "--db",
    metavar="FILE",
    callback=_read,
    help="The warehouse, or release:NAME. Default: $TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
)
written_db = path(
    "--db",
    metavar="FILE",
    callback=lambda _, __, db: to_write(db),
    help="The warehouse. Default: $TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
)
data = path(
    "--data",
    metavar="DIR",
    help="Folder with one folder per corpus, named by its id, holding the publisher's files as they are "
    "(folders, .zip, .tar.gz and .7z), or files of your own with a corpus.toml.",
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
    help="Where examples may also occur, such as your training data: corpus/release/split, or a prefix of it that "
    "ends at a slash (may be repeated).",
)
accept_terms = flag("--accept-terms", help="Accept the terms of the corpora; without it, they are shown.")


def personal(function: _Function) -> _Function:
    """Add what becomes of personal data in texts; without either option, it is asked about."""
    option = partial(click.option, "personal", type=OneOf(PersonalData), default=PersonalData.ASK, show_default=False)
    redact = option(
        "--redact", flag_value=PersonalData.REDACT, help="Put marks such as <email> in place of personal data in texts."
    )
    keep = option(
        "--keep-personal-data",
        flag_value=PersonalData.KEEP,
        help="Let personal data out; without it, texts of your own corpora that have any stop the command.",
    )
    return redact(keep(function))


escape_formulas = flag(
    "--escape-formulas", help="In CSV and TSV, put an apostrophe before texts that look like formulas."
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
        "fit is spilled to disk.",
    )


jobs = click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(1, 1024),
    help="Processes that read the files of a corpus with a corpus.toml at the same time, if there is much to read; the "
    "warehouse is the same for any number. Default: half of the processor's cores, at most 8, fewer where memory is "
    "short; 1 reads in the command's own process.",
)
input_limit = click.option(
    "--input-limit",
    metavar="NAME=VALUE",
    multiple=True,
    help=f"Raise a limit on what is read; only for files that you trust (may be repeated). Defaults: {described()}.",
)
follow_links = flag(
    LINKS_OPTION, help="Also follow links that lead outside the named folder; only if you trust its author."
)
no_wait = flag("--no-wait", help="If another build is running, report it and stop instead of waiting for it.")
dry_run = flag("--dry-run", help="Show what would be published, without publishing it.")
open_pages = flag("--open", "open_pages", help="Then open the page Errors in the browser, at what is shown here.")
force = flag("--force", help="Replace existing files.")
model = click.option(
    "--model",
    metavar="FOLDER",
    envvar="TALKHOUSE_MODEL",
    show_envvar=True,
    help="The model that turns texts into vectors: a folder as model2vec saves it.",
)
as_json = flag("--json", "as_json", help="Print JSON for programs.")


def check_absent(names: Iterable[str], problem: str) -> None:
    """Raise UsageError for the first of these options and arguments that the user has given to the command."""
    context = click.get_current_context()
    known = {name: parameter for parameter in context.command.params for name in parameter.opts}
    known |= {parameter.human_readable_name.strip("[]."): parameter for parameter in context.command.params}
    for name in names:
        if _is_given(context, known[name]):
            raise UsageError(f"{name} {problem}", next_step=f"see: {context.command_path} --help")


def _is_given(context: click.Context, parameter: click.Parameter) -> bool:
    value = context.params[str(parameter.name)]
    if isinstance(parameter, click.Option) and parameter.is_flag:  # several may set one value
        return bool(value == parameter.flag_value)
    is_typed = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    return is_typed and value is not None and value != ()
