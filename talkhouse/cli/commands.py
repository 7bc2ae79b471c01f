"""All commands, and how each of them ends."""

import inspect
import re
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.models import ParameterInfo

from talkhouse.cli.terminal.console import errors, quiet_end
from talkhouse.cli.terminal.default_command import NAME, DefaultCommand, GroupWithDefault
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.refusals import refused
from talkhouse.settings import database, version
from talkhouse.system import ctrl_c

_COMMANDS = (
    *("build", "fetch", "ingest", "status", "sql", "check", "findings", "views", "search", "show"),
    *("inspect", "corpora", "conform"),
    *(
        "export",
        "cite",
        "publish",
        "lake",
        "score",
        "scores",
        "restore",
        "verify",
        "replay",
        "make",
        "dashboard",
        "report",
        "licences",
    ),
)
"""Each is a module with a function ``command``; this is the order in which the help has them."""

_GROUPS = ("new",)
"""Each is a module with functions ``COMMANDS``, by their names behind that of the group."""

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


def _judges_paths(command: Callable[..., None]) -> Callable[..., None]:
    """Let what reads a path say that it may not be read: Typer, asking beforehand, would not say what to do."""
    for annotation in command.__annotations__.values():
        for declared in getattr(annotation, "__metadata__", ()):
            if isinstance(declared, ParameterInfo):
                declared.readable = False
    return command


def _ends_quietly(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command end with one line at Ctrl-C, and without one where the reader of its output has left."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        with quiet_end(), ctrl_c.raises():
            from talkhouse.schema import warehouse

            with warehouse.explain_failures(database(options.get("db"))):
                command(*arguments, **options)

    return run


for _name in _COMMANDS:
    _command = import_module(f"talkhouse.cli.{_name}").command
    app.command(_name, help=_help(_command.__doc__ or ""))(_ends_quietly(_judges_paths(_command)))


for _name in _GROUPS:
    _module = import_module(f"talkhouse.cli.{_name}")
    _group = typer.Typer(
        cls=GroupWithDefault, no_args_is_help=True, help=_help((_module.__doc__ or "").partition(": ")[2].capitalize())
    )
    for _name_in_group, _command in _module.COMMANDS.items():
        _class = DefaultCommand if _name_in_group == NAME else None
        _group.command(_name_in_group, cls=_class, help=_help(_command.__doc__ or ""))(
            _ends_quietly(_judges_paths(_command))
        )
    app.add_typer(_group, name=_name)


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


def run() -> int:
    """Run the command that was typed, and return its exit code."""
    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except TalkhouseError as error:
        return _told(error)
    except BrokenPipeError:
        pass  # whoever read the output has left, as `| head` does: that is not an error
    except OSError as error:
        # Every question about a path, even whether it exists, may be refused: that is said here for all of them.
        if (refusal := refused(error)) is None:
            raise
        return _told(refusal)
    return 0


def _told(error: TalkhouseError) -> int:
    errors.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
    return error.exit_code
