"""What commands import: by counting modules, since a clock tells how busy the machine is."""

import json
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

_PROGRAM = """
import contextlib, io, json, sys
from talkhouse.cli import commands
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["talkhouse", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        assert commands.run() == 0, shown.getvalue()
print(json.dumps([*sys.modules]))
"""

LIBRARIES = {
    *("alembic", "duckdb", "filelock", "msgspec", "numpy", "packaging", "platformdirs", "polars"),
    *("pyarrow", "requests", "rich", "shellingham", "sqlalchemy", "sqlglot", "yaml"),
}


def imported(*commands: list[str]) -> tuple[set[str], int]:
    """Run commands in one new process; return the libraries that it has imported, and the number of modules."""
    program = [sys.executable, "-c", _PROGRAM, json.dumps(commands)]
    modules = json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    return LIBRARIES.intersection(modules), len(modules)


def test_no_help_imports_a_library() -> None:
    libraries, count = imported(["--help"], *([name, "--help"] for name in app.commands))
    assert libraries == set()
    assert count < 230


def test_a_command_imports_what_it_uses(sample: Path) -> None:
    database = ["--db", str(sample)]
    libraries, count = imported(["status", *database])  # it compares readers, and so imports those of its corpora
    assert (libraries, count < 430) == ({"duckdb", "msgspec", "packaging", "platformdirs", "rich"}, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "expected", "most"),
    [
        (["--version"], set(), 210),
        (["findings"], {"duckdb", "rich"}, 330),
        (["views"], {"duckdb", "rich"}, 330),
        (["build", "--dry-run"], {"duckdb", "filelock", "msgspec", "packaging", "platformdirs", "rich"}, 520),
    ],
)
def test_so_do_the_others(sample: Path, command: list[str], expected: set[str], most: int) -> None:
    libraries, count = imported([*command, *([] if command == ["--version"] else ["--db", str(sample)])])
    assert libraries <= expected
    assert count < most


@pytest.mark.parametrize("file_format", ["table", "csv", "json", "jsonl", "markdown"])
def test_rows_are_written_without_pyarrow(sample: Path, tmp_path: Path, file_format: str) -> None:
    script = f"""
import sys
from talkhouse.export.sandbox import run_query
from talkhouse.warehouse.opened import opened
from pathlib import Path
with opened(Path({str(sample)!r})) as warehouse:
    run_query(warehouse.con, "from main.corpora", {file_format!r}, Path({str(tmp_path / "rows")!r}))
print({LIBRARIES!r} & sys.modules.keys() - {{"duckdb", "rich", "filelock"}})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert (tmp_path / "rows").stat().st_size > 100


# Each command in an environment with Talkhouse alone: no traceback, and the extra that is missing is named.

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


@pytest.mark.slow
def test_a_missing_extra_is_named(folder: Path) -> None:
    for command, extra in EXTRAS.items():
        done = alone(command, folder)
        assert done.returncode == 2, (command, done.stderr)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        assert f"pip install 'talkhouse[{extra}]'" in done.stderr, (command, done.stderr)
    assert {command.split()[0] for command in (*EXTRAS, *ALONE)} == {*app.commands}


@pytest.mark.parametrize(
    "command",
    # What ``conform`` needs is also seen where a lesson installs a package: it builds for a minute.
    [pytest.param(name, marks=pytest.mark.long if "conform" in name else pytest.mark.slow) for name in ALONE],
)
def test_every_other_command_needs_none(command: str, folder: Path) -> None:
    done = alone(command, folder)
    assert "Traceback" not in done.stderr, done.stderr
    assert "not installed" not in done.stderr, done.stderr
