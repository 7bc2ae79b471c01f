"""Options that several commands have are the same option, but for those that mean something else."""

from collections import defaultdict

from typer.main import get_command

from talkhouse.cli.commands import app
from tests.commands import run

OWN = {"--all", "--format", "--output", "--limit"}
"""Of each command its own: how much is shown, what is written, and how."""

OTHERS = {
    "--corpus": {"findings", "search"},
    "--db": {"lake"},
    "--force": {"publish"},
    "--memory-limit": {"sql"},
    "--split": {"ingest"},
    "--threshold": {"make"},
}
"""Commands in which an option takes more or fewer values, or has another effect, than in all others."""


def test_an_option_has_one_help() -> None:
    helps: dict[str, set[tuple[str | None, str | None]]] = defaultdict(set)
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        for option in (parameter for parameter in command.params if parameter.param_type_name == "option"):
            if name not in OTHERS.get(option.opts[0], ()):
                helps[option.opts[0]].add((option.help, option.metavar))
    assert {option for option, texts in helps.items() if len(texts) > 1} <= OWN
    assert OTHERS.keys() <= helps.keys()


def test_an_option_that_did_nothing_is_gone() -> None:
    shown = run("lake", "lake", "--sql", "--dialect", "spark")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "No such option" in shown.stderr
