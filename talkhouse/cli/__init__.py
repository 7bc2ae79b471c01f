"""The command line: one module per command, each a thin layer over the functions that do the work."""

import gc
import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from schema.errors import TalkhouseError
from talkhouse.cli import (
    build,
    check,
    export,
    findings,
    ingest,
    replay,
    restore,
    search,
    show,
    sql,
    status,
    verify,
    views,
)
from talkhouse.cli.terminal.console import errors
from talkhouse.settings import version

app = typer.Typer(
    name="talkhouse",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("build")(build.command)
app.command("ingest")(ingest.command)
app.command("status")(status.command)
app.command("sql")(sql.command)
app.command("check")(check.command)
app.command("findings")(findings.command)
app.command("views")(views.command)
app.command("search")(search.command)
app.command("show")(show.command)
app.command("export")(export.command)
app.command("restore")(restore.command)
app.command("verify")(verify.command)
app.command("replay")(replay.command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"talkhouse {version()}")
        raise typer.Exit


@app.callback()
def root(
    _: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """A SQL warehouse of dialogue corpora: shared tables in one DuckDB file, and a view for each published split.

    Start with [bold]talkhouse build[/bold]: it needs no data and makes a warehouse of invented samples.
    """


def main() -> NoReturn:
    """Run a command; an error that the user can fix is one message, without a traceback."""
    # A command ends soon and makes no reference cycles, which Python would search for during its imports.
    gc.disable()
    sys.unraisablehook = _report
    code = _run()
    with suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Everything is closed; freeing millions of objects one by one would take another third of a second.
    os._exit(code)


def _report(lost: "sys.UnraisableHookArgs") -> None:
    """Report an exception that nobody can catch, unless it is Ctrl-C.

    Polars raises KeyboardInterrupt at Ctrl-C, and a moment later Python does so again, while generators are closed.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def _run() -> int:
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130  # before a command has begun
    except TalkhouseError as error:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        return error.exit_code
    except BrokenPipeError:
        pass  # whoever read the output has left, as `| head` does: that is not an error
    return 0
