"""All commands, and how the program ends."""

import os
from importlib import import_module

import click

from talkhouse.cli.terminal import completion
from talkhouse.cli.terminal.console import errors, escape
from talkhouse.cli.terminal.options import Group
from talkhouse.schema.errors import TalkhouseError, refused

_NAMES = (
    *("build", "fetch", "ingest", "status", "sql", "check", "findings", "profile", "views"),
    *("search", "vectors", "show"),
    *("inspect", "corpora", "conform"),
    *("export", "cite", "publish", "lake", "score", "scores", "notes", "overlap", "restore", "verify", "replay"),
    *("migrate", "files", "make"),
    *("release", "diff", "dashboard", "report", "licences", "new"),
)
"""The order in which the help has them; each is ``command`` of the module of its name."""

_TOGETHER = {
    "build": ("build", "ingest", "replay", "migrate"),
    "cite": ("cite", "licences"),
    "conform": ("conform", "corpora"),
    "contents": ("status", "findings", "views", "check", "profile"),
    "dashboard": ("dashboard", "report"),
    "fetch": ("fetch", "make"),
    "new": ("new", "inspect"),
    "restore": ("restore", "verify"),
    "search": ("search", "vectors"),
}
"""Modules with several commands; each is named after itself there: ``status_command``."""


class _Commands(Group):
    """The commands; only the called one is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in their order."""
        return [*self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in self.commands:
            return None
        place = next((module for module, names in _TOGETHER.items() if cmd_name in names), None)
        name = f"{cmd_name}_command" if place else "command"
        command: click.Command = getattr(import_module(f"talkhouse.cli.{place or cmd_name}"), name)
        return command


@click.group(
    cls=_Commands,
    commands={name: click.Command(name) for name in _NAMES},
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 120},
)
@click.version_option(package_name="talkhouse", message="talkhouse %(version)s", help="Print the version and exit.")
@completion.install
@completion.show
def app() -> None:
    """A SQL warehouse of dialogue corpora: shared tables in one DuckDB file, and a view for each published split.

    Start with talkhouse build: it needs no data and makes a warehouse of invented samples.
    """


def run() -> int:
    """Run the command that was typed, and return its exit code."""
    try:
        # NO_COLOR is a convention of many programs; Click only knows whether there is a terminal.
        app(prog_name="talkhouse", color=False if os.environ.get("NO_COLOR") else None)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except TalkhouseError as error:
        return _exit_code_of(error)
    except ModuleNotFoundError as error:
        from talkhouse.installed_packages import needs_extra

        if (problem := needs_extra(error)) is None:
            raise
        return _exit_code_of(problem)
    except BrokenPipeError:
        pass  # the reader of the output has left, as `| head` does: that is not an error
    except OSError as error:
        # Every question about a path, even whether it exists, may be refused: that is said here for all of them.
        if (refusal := refused(error)) is None:
            raise
        return _exit_code_of(refusal)
    return 0


def _exit_code_of(error: TalkhouseError) -> int:
    errors.print(f"[bold red]error:[/] {escape(str(error))}")
    return error.exit_code
