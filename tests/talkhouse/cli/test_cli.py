"""The commands as a stranger meets them: help, output, errors, exit codes; colours on a terminal only."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import click
import duckdb
import pytest
from click.testing import CliRunner

from talkhouse import migrations
from talkhouse.cli.commands import app
from talkhouse.cli.terminal import options
from talkhouse.ingest.registry import corpora
from tests.commands import COMMAND, on_a_terminal, run
from tests.conftest import wait_for
from tests.data_files import data_of


def test_version() -> None:
    assert re.fullmatch(r"talkhouse \d+\.\d+\.\d+\n", run("--version").stdout)


def test_the_first_command_of_a_newcomer(tmp_path: Path) -> None:
    shown = run("build", cwd=tmp_path, env={"TERM": "xterm-256color"})
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout + shown.stderr, "colours in a pipe"
    assert re.search(r"^reading dbdc3: [\d.]+ MB$", shown.stderr, re.MULTILINE)
    assert re.search(r"^read dbdc3: [\d,]+ records in", shown.stderr, re.MULTILINE)
    assert shown.stdout.startswith("Built talkhouse.duckdb (")
    assert "invented sample" in shown.stdout
    (query,) = re.findall(r'talkhouse sql "(.*)"', shown.stdout)
    assert "breakdown_detection" in run("sql", query, cwd=tmp_path).stdout
    assert run("build", cwd=tmp_path).stdout.startswith("Nothing changed: talkhouse.duckdb is as it was built on ")


def test_a_terminal_gets_colours_and_progress(tmp_path: Path) -> None:
    shown = on_a_terminal(["build"], tmp_path)
    assert "\x1b[" in shown
    assert "reading dbdc3" in shown


def test_status(sample: Path) -> None:
    assert "dbdc3  Dialogue Breakdown Detection Challenge 3 (invented sample)" in run("status", "--db", sample).stdout
    found = json.loads(run("status", "--db", sample, "--json").stdout)
    with duckdb.connect(sample, read_only=True) as con:
        turns = con.execute("select count(*) from main.turns").fetchall()[0][0]
    assert sum(corpus["turns"] for corpus in found["corpora"]) == turns
    assert found["build"]["schema_revision"] == migrations.head()


QUERY = "select context, utterance, count_x from dbdc3.breakdown_detection order by release, split, example_index"


def test_parquet_needs_a_file_and_gets_one(sample: Path, tmp_path: Path) -> None:
    refused = run("sql", QUERY, "--db", sample, "--format", "parquet")
    assert refused.returncode == 2
    assert "--output FILE" in refused.stderr
    path = tmp_path / "out.parquet"
    assert run("sql", QUERY, "--db", sample, "--format", "parquet", "--output", path).returncode == 0
    with duckdb.connect(sample, read_only=True) as con:
        assert con.execute(f"from '{path}'").fetchall() == con.execute(QUERY).fetchall()


def test_markdown_escapes_what_would_break_its_table_and_markup_is_text(sample: Path) -> None:
    assert "[bold]x[/bold]" in run("sql", "select '[bold]x[/bold]' as t", "--db", sample).stdout
    shown = run("sql", r"select 'a|b' as x, e'c\nd' as y, null as z", "--db", sample, "--format", "markdown").stdout
    assert shown.splitlines() == ["| x | y | z |", "| --- | --- | --- |", r"| a\|b | c<br>d |  |"]


def test_a_folder_is_no_output(sample: Path, tmp_path: Path) -> None:
    shown = run("sql", "select 1", "--db", sample, "--format", "csv", "--output", tmp_path)
    assert shown.returncode == 2
    assert "the output is a folder" in shown.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_to_type_next_can_be_pasted(tmp_path: Path) -> None:
    shown = run("build", "--db", "we ird'.duckdb", cwd=tmp_path)
    line = next(line for line in shown.stdout.splitlines() if line.strip().startswith("talkhouse status"))
    assert shlex.split(line)[1:] == ["status", "--db", "we ird'.duckdb"]


def test_no_rows_are_no_rows(sample: Path) -> None:
    assert run("sql", "select 1 as x where false", "--db", sample, "--format", "json").stdout == "[]\n"
    assert run("sql", "select 1 as x where false", "--db", sample, "--format", "csv").stdout == '"x"\n'


def test_a_narrow_terminal_loses_nothing(sample: Path, tmp_path: Path) -> None:
    text = "".join(chr(ord("a") + index % 26) for index in range(150))
    shown = on_a_terminal(["sql", f"select '{text}' as t", "--db", sample], tmp_path, columns=40)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert max(map(len, plain.split("\r\n"))) <= 40
    assert "".join(re.findall(r"[a-z]{2,}", plain)).endswith(text)


def test_a_wrong_query_says_what_there_is(sample: Path) -> None:
    shown = run("sql", "select nope from main.turns", "--db", sample)
    assert shown.returncode == 1
    assert "nope" in shown.stderr
    assert "speaker_id" in shown.stderr


@pytest.mark.parametrize(("arguments", "code", "words"), data_of(__file__)["wrong_use_gets_one_clear_message"])
def test_wrong_use_gets_one_clear_message(tmp_path: Path, arguments: list[str], code: int, words: list[str]) -> None:
    shown = run(*arguments, cwd=tmp_path)
    assert shown.returncode == code
    assert all(word in shown.stderr for word in words), shown.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / "persona_list.txt").write_text("your persona: i own a kayak.\n")
    shown = run("ingest", "dbdc3", "persona_list.txt", cwd=tmp_path)
    assert shown.returncode == 1
    assert "nothing of the corpus 'dbdc3' could be loaded" in shown.stderr
    assert "persona_list.txt" in shown.stderr
    assert "*.log.json" in shown.stderr
    assert not (tmp_path / "talkhouse.duckdb").exists()


def test_ctrl_c_ends_a_build_cleanly(sample: Path, tmp_path: Path) -> None:
    published = shutil.copyfile(sample, tmp_path / "talkhouse.duckdb").read_bytes()
    data = tmp_path / "data" / "dbdc3"
    data.mkdir(parents=True)
    script = (
        "import talkhouse.load.staging as staging, time\n"
        "from pathlib import Path\n"
        "def slow(*a, **k):\n"
        "    Path('started').touch(); time.sleep(60)\n"
        "staging.load_corpus = slow\n"
        "from talkhouse.cli import main; main()"
    )
    (data / "x.log.json").write_text("{}")
    process = subprocess.Popen(
        [sys.executable, "-c", script, "build", "--data", "data"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_for(tmp_path / "started", process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted; the published warehouse is unchanged" in stderr
    assert "Traceback" not in stderr
    assert (tmp_path / "talkhouse.duckdb").read_bytes() == published
    assert not list(tmp_path.glob(".talkhouse*"))


@pytest.mark.parametrize(("raised", "is_reported"), [("KeyboardInterrupt", False), ("ValueError", True)])
def test_an_interrupt_that_nobody_can_catch_is_not_reported(raised: str, is_reported: bool) -> None:
    script = f"""
import sys
from talkhouse.cli import commands, main
class Closing:
    def __del__(self):
        raise {raised}
commands.app = lambda **_: Closing()
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (raised in done.stderr) == is_reported


@pytest.mark.parametrize("module", ["click", "rich.console", "talkhouse.schema.warehouse", "duckdb"])
def test_ctrl_c_while_a_command_is_imported(sample: Path, module: str) -> None:
    script = f"""
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from talkhouse.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script, "status", "--db", sample], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_an_ignored_ctrl_c_stays_ignored(sample: Path) -> None:
    script = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from talkhouse import settings
from talkhouse.cli import contents, main
def interrupting(path):
    os.kill(os.getpid(), signal.SIGINT)
    return settings.database(path)
contents.database = interrupting
main()
"""
    done = subprocess.run([sys.executable, "-c", script, "status", "--db", sample], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# Options: one help for all commands that have it, and numbers that none can take are wrong use, never a traceback.

OWN = {"--all", "--format", "--output", "--limit"}
"""Of each command its own: how much is shown, what is written, and how."""

OTHERS = {
    "--by": {"search"},
    "--check": {"lake"},
    "--corpus": {"findings", "notes", "search"},
    "--data": {"status"},
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


# Completion: what TAB gives, and where the shell's script is put.


def completed(words: str, database: Path) -> list[str]:
    """Return the completions that bash would offer after TAB at the end of these words."""
    environment = {
        "TALKHOUSE_DB": str(database),
        "_TALKHOUSE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    return [line.partition(",")[2] for line in run(env=environment).stdout.splitlines() if line]


def test_the_shell_offers_commands_corpora_and_views(sample: Path, tmp_path: Path) -> None:
    assert completed("talkhouse fin", sample) == ["findings"]
    assert completed("talkhouse build --max-", sample) == ["--max-quarantine"]
    assert completed("talkhouse sql x --format j", sample) == ["json", "jsonl"]
    assert completed("talkhouse build --corpus ", sample) == list(corpora())
    assert completed("talkhouse findings --corpus db", sample) == ["dbdc3"]
    assert completed("talkhouse views dbdc3.breakdown_detection_", sample) == [
        "dbdc3.breakdown_detection_dev",
        "dbdc3.breakdown_detection_eval",
    ]
    assert "bi.examples" in completed("talkhouse export bi.", sample)
    assert completed(f"talkhouse views --db {sample} main.turns", tmp_path / "none.duckdb") == ["main.turns"]
    assert completed("talkhouse views main.turns", tmp_path / "none.duckdb") == []


@pytest.mark.parametrize(
    ("shell", "script", "start"),
    [
        ("bash", ".bash_completions/talkhouse.sh", ".bashrc"),
        pytest.param("zsh", ".zfunc/_talkhouse", ".zshrc", marks=pytest.mark.slow),
    ],
)
def test_it_is_installed_once_and_nothing_else_changes(tmp_path: Path, shell: str, script: str, start: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    mine = "alias ll='ls -l'"
    (tmp_path / start).write_text(mine)
    typed = f"{shlex.join(COMMAND)} --install-completion; exit $?"
    for _ in range(2):
        done = subprocess.run(
            [shell, "-c", typed], env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith(f"{shell} completes talkhouse")
    assert f"{shell}_complete" in (tmp_path / script).read_text()
    first, *added = (tmp_path / start).read_text().splitlines()
    assert first == mine
    assert len([line for line in added if line]) == 1


def test_help_has_colours_on_a_terminal_and_fits_its_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_a_terminal(["export", "--help"], tmp_path, columns=60).replace("\r", "")
    plain = shown.replace("\x1b[1m", "").replace("\x1b[36m", "").replace("\x1b[0m", "")
    assert "\x1b[36m--output PATH\x1b[0m" in shown
    assert "\x1b" not in plain
    wrapped = [line for line in plain.splitlines() if "      talkhouse" not in line and "[superset|" not in line]
    assert max(map(len, wrapped)) <= 60
    assert "\x1b" not in run("export", "--help").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_a_terminal(["export", "--help"], tmp_path)


@pytest.mark.parametrize(("typed", "meant"), [(["sqll"], "'sql'"), (["export", "--fromat"], "'--format'")])
def test_what_was_mistyped_gets_a_suggestion(typed: list[str], meant: str) -> None:
    shown = run(*typed)
    assert shown.returncode == 2
    assert meant in shown.stderr


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
