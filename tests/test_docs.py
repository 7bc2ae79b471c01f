"""The documents can't rot: every command, query and program in them is run on a fresh sample."""

import ast
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten

import duckdb
import pytest

from docs.commands import commands_pages
from docs.plan import plan
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.queries.catalogue import catalogue
from tests.commands import run as start

ROOT = Path(__file__).parent.parent
START = ROOT / "docs" / "start.md"
README, FAQ, RECIPES = (
    (ROOT / f"{name}.md").read_text(encoding="utf-8") for name in ("README", "docs/faq", "docs/recipes")
)

PACKAGES = ("schema", "migrations", "queries", "ingest", "talkhouse")
"""Folders of packages, as they lie in the repository."""

NO_ROOMS = ("ingest/corpora", "migrations/versions", "talkhouse/new_corpus/templates")
"""Folders with code that are no rooms."""

ENDLESS = ("uv run talkhouse dashboard",)
"""Commands that serve until Ctrl-C, with tests of their own."""

SERVERS = ("uv run talkhouse fetch",)
"""Commands that ask the publishers' servers, with tests of their own."""

OTHERS = ("uv run pytest", "uv run ruff", "uv run mypy", "uv tool install", "uv run alembic", "git clone", "cd ")
"""Commands in the documents that are not Talkhouse's."""

SYSTEM = ("cp", "ln", "mkdir", "mv")
"""Commands of the system in the documents, which are run too."""


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """Return the shell commands of a page, one by one; comments are left out."""
    lines = "".join(blocks(page, "sh")).replace("\\\n", "").splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


def run(command: str, folder: Path) -> None:
    words = shlex.split(command)
    if words[0] in SYSTEM:
        subprocess.run(words, cwd=folder, check=True)
        return
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


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        *(
            pytest.param(f"docs/{name}.md", marks=SLOW)
            for name in (
                "start",
                "data",
                "recipes",
                "bi",
                "scores",
                "score-compare",
                "overlap",
                "releases",
                "diff",
                "notes",
                "operating",
            )
        ),
    ],
)
def test_every_command_of_a_page_works(page: str, folder: Path) -> None:
    if page == "README.md":
        (folder / "talkhouse.duckdb").unlink()
    elsewhere = (*OTHERS, *ENDLESS, *SERVERS)
    for command in commands((ROOT / page).read_text(encoding="utf-8")):
        if not command.startswith(elsewhere) and "postgresql:" not in command:
            run(command, folder)


def check_part(page: Path, name: str, written: str, regen: bool, same: Callable[[str], str] = str) -> None:
    """Compare what stands between ``<!-- name -->`` and ``<!-- /name -->``; ``--regen`` writes it again."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    current, end, after = rest.partition(f"<!-- /{name} -->")
    assert begin, f"{page} has no part {name}"
    assert end, f"{page} has no end of {name}"
    if regen:
        page.write_text(f"{before}{begin}{written}{end}{after}", encoding="utf-8")
    else:
        assert same(current) == same(written)


def without_figures(output: str) -> str:
    """Mask what differs from machine to machine, and from run to run: sizes of files, and times."""
    return re.sub(r"[0-9.]+ [kM]B|in [0-9.]+ s", "", output)


def test_the_first_page_shows_what_its_commands_print(folder: Path, regen: bool) -> None:
    (folder / "talkhouse.duckdb").unlink()
    shown = {}
    for name in ("build", "sql"):
        command = next(
            line for line in commands(START.read_text(encoding="utf-8")) if line.startswith(f"uv run talkhouse {name}")
        )
        shown[name] = start(*shlex.split(command)[3:], cwd=folder, env={"COLUMNS": "110"}).stdout
    for name, output in shown.items():
        check_part(START, name, f"```text\n{output}```\n", regen, without_figures)


def listing() -> str:
    lines = ["| corpus | what | task views |", "|---|---|---|"]
    tasks = catalogue().examples
    for corpus in corpora().values():
        names = ", ".join(f"`{task.name}`" for task in tasks if task.schema == corpus.id)
        what = f"{corpus.title}. {corpus.description}"
        lines.append(f"| [{corpus.id}](../ingest/corpora/{corpus.id}/README.md) | {what} | {names} |")
    return "".join(f"{line}\n" for line in lines)


def test_the_corpora_are_listed(regen: bool) -> None:
    check_part(ROOT / "docs" / "corpora.md", "corpora", listing(), regen)


def test_the_rooms_are_listed(regen: bool) -> None:
    lines = ["| folder | what it has |", "|---|---|"]
    for init in sorted(path for top in PACKAGES for path in (ROOT / top).rglob("__init__.py")):
        folder = init.parent.relative_to(ROOT)
        if not any(map(folder.is_relative_to, NO_ROOMS)):
            first = str(ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))).partition("\n")[0]
            lines.append(f"| `{folder}/` | {first.rstrip('.')} |")
    check_part(ROOT / "CONTRIBUTING.md", "rooms", "".join(f"{line}\n" for line in lines), regen)


def test_the_plan_of_the_rooms_is_drawn(regen: bool) -> None:
    check_part(ROOT / "docs" / "read-the-code.md", "plan", plan(), regen)


def test_a_word_of_the_glossary_means_one_thing() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    listed = [word for row in re.findall(r"^\| ([^|]+) \| .+ \|$", page, re.MULTILINE) for word in row.split(", ")]
    words = [word for word in listed if word != "word"]
    assert len(words) > 100
    assert sorted(words) == sorted({*words})


def check_pages(name: str, pages: dict[str, str], regen: bool) -> None:
    """Compare the generated pages ``docs/NAME.md`` and those in ``docs/NAME/``; ``--regen`` writes them again."""
    docs = ROOT / "docs"
    if regen:
        shutil.rmtree(docs / name, ignore_errors=True)
        (docs / name).mkdir()
        for place, text in pages.items():
            (docs / place).write_text(text, encoding="utf-8")
    written = [docs / f"{name}.md", *(docs / name).iterdir()]
    assert {page.relative_to(docs).as_posix(): page.read_text(encoding="utf-8") for page in written} == pages


def test_the_pages_of_commands_are_as_their_help(regen: bool) -> None:
    check_pages("commands", commands_pages(), regen)


@pytest.mark.parametrize(
    "query", blocks(README + RECIPES, "sql"), ids=lambda query: shorten(query, 60, placeholder="...")
)
def test_a_recipe_gives_rows(query: str, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute(query).fetchmany(1), query


@SLOW
@pytest.mark.parametrize("program", blocks(FAQ + RECIPES, "python"))
def test_every_program_of_the_recipes_works(program: str, folder: Path) -> None:
    shown = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=300)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout


def test_links_inside_the_documents_lead_somewhere() -> None:
    readmes = (path for folder in ("ingest", "examples") for path in (ROOT / folder).rglob("README.md"))
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *readmes]:
        for target in re.findall(r'(?:\]\(|src="|srcset=")(?!https?:)([^)#"]+)', page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"
