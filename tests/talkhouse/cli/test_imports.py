"""What commands import: by counting modules, since a clock tells how busy the machine is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from talkhouse.cli.commands import app

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
