"""The documents can't rot: every command, query and program in them is run on a fresh sample."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import shorten

import duckdb
import pytest

from talkhouse.cli.commands import app
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.queries.catalogue import catalogue
from tests.commands import run as start

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
RECIPES = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")

ENDLESS = ("uv run talkhouse dashboard",)
"""Commands that serve until Ctrl-C, with tests of their own."""

OTHERS = ("uv run pytest", "uv run ruff", "uv run mypy", "uv tool install", "uv run alembic", "git clone", "cd ")
"""Commands in the documents that are not Talkhouse's."""


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """Return the shell commands of a page, one by one; comments are left out."""
    lines = "".join(blocks(page, "sh")).replace("\\\n", "").splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


def run(command: str, folder: Path) -> None:
    words = shlex.split(command)
    if words[:2] == ["uv", "run"]:
        words = words[2:]
    assert words[0] == "talkhouse", command
    shown = start(*words[1:], cwd=folder)
    assert shown.returncode == 0, f"{command}\n{shown.stdout}{shown.stderr}"
    assert shown.stdout.strip() or "--output" in command, f"{command}\n{shown.stderr}"


@pytest.fixture
def folder(sample: Path, tmp_path: Path) -> Path:
    """A folder with the sample as talkhouse.duckdb, and files of the publishers (here the samples') in corpora/."""
    shutil.copyfile(sample, tmp_path / "talkhouse.duckdb")
    for corpus in corpora().values():
        shutil.copytree(sample_of(corpus), tmp_path / "corpora" / corpus.id)
    return tmp_path


def test_every_command_of_the_readme_works(folder: Path) -> None:
    (folder / "talkhouse.duckdb").unlink()
    others = (*OTHERS, *ENDLESS)
    ours = [command for command in commands(README) if not command.startswith(others) and "postgresql:" not in command]
    assert len(ours) > 12
    for command in ours:
        run(command, folder)


def listing() -> str:
    """Write the README's table of corpora."""
    lines = ["| corpus | what | task views |", "|---|---|---|"]
    tasks = catalogue().examples
    for corpus in corpora().values():
        names = ", ".join(f"`{task.name}`" for task in tasks if task.schema == corpus.id)
        what = f"{corpus.title}. {corpus.description}"
        lines.append(f"| [{corpus.id}](ingest/corpora/{corpus.id}/README.md) | {what} | {names} |")
    return "\n".join(lines)


def test_the_readme_lists_the_corpora(regen: bool) -> None:
    """``--regen`` writes the table again, so that a new corpus needs no line by hand."""
    before, _, rest = README.partition("<!-- corpora -->\n")
    current, end, after = rest.partition("<!-- /corpora -->")
    assert end
    if regen:
        current = f"{listing()}\n"
        (ROOT / "README.md").write_text(f"{before}<!-- corpora -->\n{current}{end}{after}", encoding="utf-8")
    assert current == f"{listing()}\n"


def test_every_command_of_ours_is_in_the_readme() -> None:
    names = {command.name for command in app.registered_commands}
    assert set(re.findall(r"^\| `talkhouse (\w+)", README, re.MULTILINE)) == names


@pytest.mark.parametrize("query", blocks(RECIPES, "sql"), ids=lambda query: shorten(query, 60, placeholder="..."))
def test_a_recipe_gives_rows(query: str, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute(query).fetchmany(1), query


@pytest.mark.parametrize("page", ["recipes", "bi", "scores"])
def test_every_command_of_a_page_works(page: str, folder: Path) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for command in commands(text):
        run(command, folder)


@pytest.mark.parametrize("program", blocks(RECIPES, "python"))
def test_every_program_of_the_recipes_works(program: str, folder: Path) -> None:
    shown = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=300)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout


def test_links_inside_the_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "ingest").rglob("README.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"
