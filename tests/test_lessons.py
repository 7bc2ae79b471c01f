"""Pages that are lessons: their files are written, their commands are run, and what these print is compared."""

import json
import re
import shlex
from pathlib import Path
from zipfile import ZipFile

import pytest

from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.declared.declaration import of_folder
from tests import outside
from tests.commands import run
from tests.postgres_server import Database
from tests.test_docs import ROOT, without_figures

DOCS = ROOT / "docs"
_BLOCK = re.compile(
    r"(?:^`(?P<path>[^`\n]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


FORMATS = sorted(page for page in (DOCS / "formats").glob("*.md") if page.stem != "README")


def lay_out(page: Path, folder: Path) -> list[Path]:
    """Write the files that a page shows."""
    paths = []
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        paths.append(folder / block["path"])
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(block["text"], encoding="utf-8")
    return paths


@pytest.mark.parametrize("page", FORMATS, ids=lambda page: page.stem)
def test_the_first_example_of_a_format_is_what_is_proposed(page: Path, tmp_path: Path) -> None:
    paths = lay_out(page, tmp_path)
    assert {of_folder(path.parent).format for path in paths if path.suffix == ".toml"} == {page.stem}
    folder = paths[0].parent
    (folder / "corpus.toml").unlink()
    new_declaration(folder)
    assert of_folder(folder).format == page.stem


@pytest.mark.slow
def test_the_examples_of_all_formats_load_and_come_back(tmp_path: Path) -> None:
    for page in FORMATS:
        lay_out(page, tmp_path)
    done = run("build", "--data", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    corpora = list((tmp_path / "data").iterdir())
    assert done.stdout.count(" 0 records in quarantine, 0 findings") == len(corpora)
    done = run("verify", "--data", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


PUBLISHES = "path-data-engineer"
LESSONS = ["your-own-data", "own-recipes", "own-exports", "paths", *(path.stem for path in DOCS.glob("path-*.md"))]


def printed_by(command: str, folder: Path, database: Database | None) -> str:
    """Run a command of a page and return what it prints; what is no command of Talkhouse's, in its own environment."""
    name, *words = shlex.split(command)
    if name != "talkhouse":
        words = [str(ROOT) if word == "." else word for word in words]
        # What the page has installed must not write into the home.
        program = ["env", f"HOME={folder}", str(folder / name)] if "/" in name else [name]
        return outside.run([*program, *words], folder)
    if words[0] == "publish" and database:
        words[1] = database.url()
    done = run(*words, cwd=folder)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*LESSONS} - {PUBLISHES}))
def test_a_page_is_what_happens(name: str, tmp_path: Path, regen: bool) -> None:
    follow(DOCS / f"{name}.md", tmp_path, regen)
    if name == "your-own-data":
        assert (tmp_path / "kitchen.html").is_file()
        assert (tmp_path / "reply_train.jsonl").read_text(encoding="utf-8").count("\n") == 4


@pytest.mark.slow
def test_the_page_that_publishes_is_what_happens(tmp_path: Path, regen: bool, postgres: Database) -> None:
    follow(DOCS / f"{PUBLISHES}.md", tmp_path, regen, postgres)
    with postgres.connect() as server:
        assert server.execute("select count(*) from desk.answers").fetchall() == [(5,)]


def follow(page: Path, folder: Path, regen: bool, database: Database | None = None) -> None:
    """Do what a page says, and compare what is printed; ``--regen`` writes that into the page."""
    printed = ""
    written = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(written):
        path, language, text = block["path"], block["language"], block["text"]
        if path:
            path, _, member = path.partition("!")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if member:
                with ZipFile(folder / path, "a") as archive:
                    archive.writestr(member, text)
            else:
                (folder / path).write_text(text, encoding="utf-8")
        elif language in ("sh", "sql"):
            for command in text.splitlines() if language == "sh" else [shlex.join(["talkhouse", "sql", text])]:
                printed = printed_by(command, folder, database)
        elif language == "text" and not text.startswith("$ "):
            if regen and without_figures(printed) != without_figures(text):
                written = written.replace(block[0], f"```text\n{printed}```", 1)
                page.write_text(written, encoding="utf-8")
            else:
                assert without_figures(printed) == without_figures(text)


def shown(notebook: Path) -> tuple[list[str], int]:
    """Return the texts that a notebook shows, and the number of its pictures."""
    outputs = [
        output for cell in json.loads(notebook.read_text("utf-8"))["cells"] for output in cell.get("outputs", [])
    ]
    data = [output.get("data", {"text/plain": output.get("text")}) for output in outputs]
    return ["".join(of_one["text/plain"]) for of_one in data], sum("image/png" in of_one for of_one in data)


@pytest.mark.long
def test_the_notebooks_are_what_happens(tmp_path: Path) -> None:
    with_jupyter = ["uv", "run", "--isolated", "--with", "nbclient", "--with", "ipykernel"]
    outside.run([*with_jupyter, "python", "-m", "docs.notebooks.make", str(tmp_path)], ROOT)
    executed = {path.name: shown(path) for path in tmp_path.glob("*.ipynb")}
    assert executed == {path.name: shown(path) for path in (DOCS / "notebooks").glob("*.ipynb")}
    assert {name: pictures for name, (_, pictures) in executed.items()} == {"researcher.ipynb": 2, "trainer.ipynb": 1}
