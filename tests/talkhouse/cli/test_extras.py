"""Each command in an environment with Talkhouse alone: no traceback, and the extra that is missing is named."""

import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from talkhouse.cli.commands import app
from talkhouse.installed_packages import packages
from tests.data_files import data_of

ALWAYS = {package.name for package in packages() if not package.extras} | {"talkhouse"}
OTHERS = [
    module
    for module, names in packages_distributions().items()
    if ALWAYS.isdisjoint(map(canonicalize_name, names)) and module not in ("tests", "sitecustomize")
]
PROGRAM = f"import sys; sys.modules |= dict.fromkeys({OTHERS}); from talkhouse.cli import main; main()"

EXTRAS = data_of(__file__)["extras"]
"""Commands and options that need an extra."""

ALONE = data_of(__file__)["alone"]


def alone(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command without any package that a plain installation lacks."""
    words = [sys.executable, "-c", PROGRAM, *command.split()]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse, and files that commands name."""
    shutil.copyfile(sample, tmp_path / "w.duckdb")
    monkeypatch.setenv("TALKHOUSE_DB", "w.duckdb")
    for name in ("vectors.parquet", "model/model.safetensors", "dumps/x.stackexchange.com/Posts.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    return tmp_path


def test_a_missing_extra_is_named(folder: Path) -> None:
    for command, extra in EXTRAS.items():
        done = alone(command, folder)
        assert done.returncode == 2, (command, done.stderr)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        assert f"pip install 'talkhouse[{extra}]'" in done.stderr, (command, done.stderr)
    assert {command.split()[0] for command in (*EXTRAS, *ALONE)} == {*app.commands}


@pytest.mark.slow
@pytest.mark.parametrize("command", ALONE)
def test_every_other_command_needs_none(command: str, folder: Path) -> None:
    done = alone(command, folder)
    assert "Traceback" not in done.stderr, done.stderr
    assert "not installed" not in done.stderr, done.stderr
