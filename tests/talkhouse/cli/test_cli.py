"""The commands as a stranger meets them: help, output, errors, exit codes; colours on a terminal only."""

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from talkhouse import migrations
from tests.commands import on_a_terminal, run
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
