"""The pages about one's own data: their files are written, their commands are run, and what these print is compared."""

import re
import shlex
from pathlib import Path
from zipfile import ZipFile

import pytest

from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.declared.declaration import of_folder
from tests.commands import run

DOCS = Path(__file__).parents[3] / "docs"
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["your-own-data", "own-recipes", "own-exports", "paths"])
def test_a_page_is_what_happens(name: str, tmp_path: Path, regen: bool) -> None:
    printed, page = "", DOCS / f"{name}.md"
    written = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(written):
        path, language, text = block["path"], block["language"], block["text"]
        if path:
            path, _, member = path.partition("!")
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            if member:
                with ZipFile(tmp_path / path, "a") as archive:
                    archive.writestr(member, text)
            else:
                (tmp_path / path).write_text(text, encoding="utf-8")
        elif language in ("sh", "sql"):
            commands = [shlex.split(line)[1:] for line in text.splitlines()] if language == "sh" else [["sql", text]]
            for command in commands:
                done = run(*command, cwd=tmp_path)
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                printed = done.stdout
        elif language == "text" and regen:
            written = written.replace(block[0], f"```text\n{printed}```", 1)
            page.write_text(written, encoding="utf-8")
        elif language == "text":
            assert printed == text
    if name == "your-own-data":
        assert (tmp_path / "kitchen.html").is_file()
        assert (tmp_path / "reply_train.jsonl").read_text(encoding="utf-8").count("\n") == 4
