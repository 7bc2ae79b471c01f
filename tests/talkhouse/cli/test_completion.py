"""Completion: what TAB gives, and where the shell's script is put."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from talkhouse.ingest.registry import corpora
from tests.commands import COMMAND, on_a_terminal, run


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
