"""Clients that the documents name give the rows that ours gives: older DuckDBs, and programs with other packages."""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from _pytest.mark import ParameterSet

from tests.outside import run
from tests.test_docs import RECIPES, ROOT, blocks, commands

slow, packages = pytest.mark.slow, pytest.mark.packages

OLDEST = "1.2.2"
OLDEST_ATTACHED = "1.4.4"
"""The oldest whose views work under ATTACH without USE."""
LAST_BEFORE_2 = "1.5.5"

CLIENTS = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
HASHES = Path(__file__).with_name("answers.py")


def in_duckdb(version: str) -> list[str]:
    """Return the command that runs Python with a version of DuckDB; it gives times with a zone by pytz."""
    python = ">=3.11,<3.14"  # for these 1.2 has wheels
    return f"uv run --isolated --no-project --python {python} --with duckdb=={version} --with pytz python".split()


def attach(path: Path) -> str:
    return f"attach '{path}' as w (read_only)"


def answers(program: Sequence[str], statements: Sequence[str], *file: Path) -> list[str]:
    """Run statements, one after the other, in a DuckDB that has the file open, or none."""
    shown = run([*program, str(HASHES), *map(str, file)], HASHES.parent, json.dumps(statements))
    found: list[str] = json.loads(shown)
    return found


IN_SLOW = (OLDEST_ATTACHED, "DuckDB's command line", "SQLAlchemy", "ibis", "Jupyter", "marimo", "Node")
"""What the slow lane tries; to install all others takes it minutes."""


def in_lanes(*cases: str) -> list[ParameterSet]:
    return [pytest.param(case, marks=slow if case in IN_SLOW else packages) for case in cases]


@pytest.fixture(scope="module")
def views(opened: duckdb.DuckDBPyConnection) -> list[str]:
    rows = opened.execute("select format('{}.\"{}\"', schema_name, view_name) from duckdb_views() where not internal")
    return [name for (name,) in rows.fetchall()]


@pytest.fixture(scope="module")
def queries(views: list[str]) -> list[str]:
    return [f"from {view}" for view in views] + blocks(RECIPES, "sql")


@pytest.fixture(scope="module")
def expected(queries: list[str], filled: Path) -> dict[str, str]:
    return dict(zip(queries, answers([sys.executable], queries, filled), strict=True))


@pytest.mark.parametrize("version", in_lanes(OLDEST, OLDEST_ATTACHED, LAST_BEFORE_2))
def test_an_older_duckdb_gives_the_same_rows_of_views_and_recipes(
    version: str, queries: list[str], expected: dict[str, str], filled: Path
) -> None:
    assert dict(zip(queries, answers(in_duckdb(version), queries, filled), strict=True)) == expected


@packages
def test_so_does_the_oldest_after_attach_and_use(queries: list[str], expected: dict[str, str], filled: Path) -> None:
    _, _, *found = answers(in_duckdb(OLDEST), [attach(filled), "use w", *queries])
    assert dict(zip(queries, found, strict=True)) == expected


@pytest.mark.parametrize("version", in_lanes(OLDEST_ATTACHED, LAST_BEFORE_2))
def test_its_views_need_no_use_from_1_4_4_on(
    version: str, views: list[str], expected: dict[str, str], filled: Path
) -> None:
    _, *found = answers(in_duckdb(version), [attach(filled), *(f"from w.{view}" for view in views)])
    assert dict(zip(views, found, strict=True)) == {view: expected[f"from {view}"] for view in views}


def sections() -> dict[str, str]:
    parts = (part.partition("\n") for part in CLIENTS.split("\n## ")[1:])
    return {title: text for title, _, text in parts if blocks(text, "sh")}


def programs(text: str) -> dict[str, str]:
    return dict(re.findall(r"`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("title", in_lanes(*sections()))
def test_commands_and_programs_of_the_page_work(title: str, filled: Path, tmp_path: Path) -> None:
    text = sections()[title]
    shutil.copyfile(filled, tmp_path / "talkhouse.duckdb")
    for name, program in programs(text).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(program, encoding="utf-8")
    for command in commands(text):
        words = shlex.split(command)
        if words[:2] == ["uv", "run"]:
            words[2:2] = ["--isolated", "--project", str(ROOT)]
        assert run(words, tmp_path).strip(), command
