"""The command line: one module per command, each a thin layer over the functions that do the work."""

import gc
import inspect
import os
import re
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


def _help(doc: str) -> str:
    """Join the lines of each paragraph, which then wraps at the terminal's width; indented lines stay."""
    return re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.cleandoc(doc))


for _module in (build, ingest, status, sql, check, findings, views, search, show, export, restore, verify, replay):
    app.command(_module.__name__.rpartition(".")[2], help=_help(_module.command.__doc__ or ""))(_module.command)


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
