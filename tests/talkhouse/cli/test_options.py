"""Options: one help for all commands that have it, and numbers that none can take are wrong use, never a traceback."""

from collections import defaultdict
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from talkhouse.cli.commands import app
from talkhouse.cli.terminal import options
from tests.commands import run

OWN = {"--all", "--format", "--output", "--limit"}
"""Of each command its own: how much is shown, what is written, and how."""

OTHERS = {
    "--by": {"search"},
    "--check": {"lake"},
    "--corpus": {"findings", "notes", "search"},
    "--db": {"build", "ingest", "lake", "migrate", "replay"},
    "--force": {"publish"},
    "--jobs": {"make"},
    "--memory-limit": {"sql"},
    "--release": {"cite"},
    "--remove": {"notes"},
    "--site": {"report"},
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


NINES = "9" * 400
ROWS = ("-1", "9" * 20, NINES, "nan", "inf", "1e400", "1.5", "9223372036854775807")
SECONDS = ("inf", "-inf", "nan", "1e400", "-1", "0", "1e12", NINES)
MEMORY = ("0GB", "0.5KB", "0.0000001%", "101%", f"{NINES}GB", "9e99GB", "nan%", "-1GB", "99999999TB")
NUMBERS = [
    *((("sql", "select 1", "--timeout"), value) for value in SECONDS),
    *((("sql", "select 1", "--limit"), value) for value in ROWS),
    *((("search", "a", "--limit"), value) for value in ROWS),
    *((("search", "a", "--context"), value) for value in ROWS),
    *((("export", "turns", "--output", "turns.csv", "--limit"), value) for value in ROWS),
    *((("publish", "postgresql://nobody@127.0.0.1:1/none", "--max-rows"), value) for value in ROWS),
    *((("dashboard", "--no-browser", "--port"), value) for value in (*ROWS, "0", "65536")),
    *((("sql", "select 1", "--memory-limit"), value) for value in MEMORY),
    *((("export", "turns", "--output", "turns.csv", "--memory-limit"), value) for value in MEMORY),
    *((("build", "--memory-limit"), value) for value in MEMORY),
    *((("build", "--max-quarantine"), value) for value in ("nan", "inf", "inf%", "nan%", "1e400%", "-1", "-1%", "1.5")),
    *((("verify", "--input-limit"), f"record={value}") for value in (f"{NINES}GB", NINES, "0", "-1", "nan", "inf")),
]


def refused(arguments: tuple[str, ...], value: str, folder: Path, warehouse: Path) -> None:
    done = run(*arguments[:-1], f"{arguments[-1]}={value}", "--db", warehouse, cwd=folder)
    assert done.returncode == 2, (arguments, value[:40], done.stdout, done.stderr)
    assert arguments[-1] in done.stderr
    assert not list(folder.iterdir())


def test_a_number_that_an_option_cannot_take_is_wrong_use(tmp_path: Path, sample: Path) -> None:
    for arguments, value in ((("sql", "select 1", "--timeout"), "inf"), (("search", "a", "--limit"), "9" * 20)):
        refused(arguments, value, tmp_path, sample)


@pytest.mark.long
@pytest.mark.parametrize(("arguments", "value"), NUMBERS, ids=lambda item: str(item)[:60])
def test_no_number_is_a_traceback(arguments: tuple[str, ...], value: str, tmp_path: Path, sample: Path) -> None:
    refused(arguments, value, tmp_path, sample)


@pytest.mark.parametrize("typed", ["--plain", "--redact", "--keep-personal-data", "--text x", "FILE"])
def test_what_does_not_go_together_is_named_as_it_is_typed(typed: str) -> None:
    @options.command
    @click.argument("files", metavar="[FILE]...", nargs=-1)
    @options.flag("--plain")
    @options.personal
    @click.option("--text", default="usual")
    def command(**_: object) -> None:
        name = typed.split()[0]
        options.check_absent([other for other in names if other != name], "is not there")
        options.check_absent([name], "is there")

    names = ["--plain", "--redact", "--keep-personal-data", "--text", "FILE"]
    done = CliRunner().invoke(command, typed.split())
    assert f"{done.exception}".startswith(f"{typed.split()[0]} is there")
