"""Options that several commands have are the same option, but for those that mean something else."""

from collections import defaultdict

import click

from talkhouse.cli.commands import app
from tests.commands import run

OWN = {"--all", "--format", "--output", "--limit"}
"""Of each command its own: how much is shown, what is written, and how."""

OTHERS = {
    "--corpus": {"findings", "search"},
    "--db": {"build", "ingest", "lake", "replay"},
    "--force": {"publish"},
    "--memory-limit": {"sql"},
    "--release": {"cite"},
    "--split": {"ingest"},
    "--threshold": {"make", "overlap"},
}
"""Commands in which an option takes more or fewer values, or has another effect, than in all others."""


def test_an_option_has_one_help() -> None:
    helps: dict[str, set[tuple[str | None, str | None]]] = defaultdict(set)
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        for option in (parameter for parameter in command.params if isinstance(parameter, click.Option)):
            if name not in OTHERS.get(option.opts[0], ()):
                helps[option.opts[0]].add((option.help, option.metavar))
    assert {option for option, texts in helps.items() if len(texts) > 1} <= OWN
    assert OTHERS.keys() <= helps.keys()


def test_an_option_that_did_nothing_is_gone() -> None:
    shown = run("lake", "lake", "--sql", "--dialect", "spark")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "No such option" in shown.stderr
