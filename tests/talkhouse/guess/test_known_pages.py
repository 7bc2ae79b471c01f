"""Pages of corpora that are known: each reads its sample as a plain parse does, and is found by what the files hold."""

import json
import os
import pty
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from talkhouse.guess.known_pages import KnownPage, known_pages
from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.loading.vocabulary import terms_of
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.schema import warehouse
from tests.commands import COMMAND, read_terminal, run
from tests.conftest import made_once
from tests.declared.invented_corpora import verdicts_of
from tests.test_docs import ROOT, check_part

PAGES = list(known_pages())
QUICK, *OTHERS = PAGES
TRIED = re.compile(r"\A# .*\n# Tried on: (.*)\.\n")
"""The head of a page."""
NO_LICENCE = "# Licence: the files name none."


def with_sample(page: KnownPage, parent: Path) -> Path:
    """Copy the sample of a page to a folder of its id."""
    return Path(shutil.copytree(page.folder / "sample", parent / page.folder.name))


def build_pages(pages: list[KnownPage], path: Path) -> None:
    """Build the samples together, each by the page that its files are recognised by."""
    for page in pages:
        new_declaration(with_sample(page, path.parent / "data"), page.declaration.title.__eq__)
    build(path, Silent(), data=path.parent / "data")


def check_page(page: KnownPage, path: Path) -> None:
    corpus_id, (first, *_) = page.folder.name, page.declaration.tasks
    lines = (page.folder / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [json.loads(line) for line in lines]
    columns = ", ".join(expected[0])
    with warehouse.connect(path) as con:
        assert con.execute("select * from meta.quarantine where corpus_id = ?", [corpus_id]).fetchall() == []
        rows = con.execute(f"select {columns} from {corpus_id}.{first.name} order by split, example_index").fetchall()
        assert rows == [tuple(row.values()) for row in expected]
        assert {verdict.status for verdict in verdicts_of(con, corpus_id)} <= {"equal", "not data"}
    document = tomllib.loads(page.text)
    assert NO_LICENCE in page.text if "licence" not in document else terms_of(document["licence"])
    assert {"homepage", "citation", "description", "tasks"} <= document.keys()


def test_a_page_reads_its_sample(tmp_path: Path) -> None:
    build_pages([QUICK], tmp_path / "talkhouse.duckdb")
    check_page(QUICK, tmp_path / "talkhouse.duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("page", OTHERS, ids=[page.folder.name for page in OTHERS])
def test_the_other_pages_do_too(page: KnownPage, shared_folder: Path) -> None:
    path = shared_folder / "known_pages" / "talkhouse.duckdb"
    check_page(page, made_once(path, lambda path: build_pages(OTHERS, path)))


def test_neither_names_nor_fields_alone_are_recognised(tmp_path: Path) -> None:
    names, fields = with_sample(QUICK, tmp_path / "names"), with_sample(QUICK, tmp_path / "fields")
    for path in [path for path in names.rglob("*") if path.is_file()]:
        path.write_text('[{"id": 1, "turns": [{"text": "Hello"}, {"text": "Hi"}]}]', encoding="utf-8")
    for path in [path for path in fields.rglob("*") if path.is_file()]:
        path.rename(path.with_name(f"mine_{path.name}"))
    for folder in (names, fields):
        run("new", folder, "--known")
        assert tomllib.loads((folder / "corpus.toml").read_text())["title"] != QUICK.declaration.title


def test_a_page_is_taken_only_where_somebody_says_so(tmp_path: Path) -> None:
    title = QUICK.declaration.title
    asked, mentioned, taken = (with_sample(QUICK, tmp_path / name) for name in ("asked", "mentioned", "taken"))
    leader, follower = pty.openpty()
    with subprocess.Popen([*COMMAND, "new", str(asked)], stdin=follower, stdout=follower, stderr=follower):
        os.close(follower)
        os.write(leader, b"y\n")
        assert f"this looks like {title}; its page is known." in read_terminal(leader).decode()
    assert f"looks like: {title}, whose page is known" in run("new", mentioned).stdout
    assert f"the known page of {title}" in run("new", taken, "--known").stdout
    declared = [tomllib.loads((folder / "corpus.toml").read_text()) for folder in (asked, mentioned, taken)]
    assert [document["title"] == title for document in declared] == [True, False, True]


def test_they_are_listed(regen: bool) -> None:
    lines = ["| corpus | licence | tasks | tried on |", "|---|---|---|---|"]
    for page in PAGES:
        document = tomllib.loads(page.text)
        tasks = ", ".join(f"`{task['name']}`" for task in document["tasks"])
        licence, tried = document.get("licence", "not stated"), TRIED.findall(page.text)[0]
        lines.append(f"| [{document['title']}]({document['homepage']}) | {licence} | {tasks} | {tried} |")
    check_part(ROOT / "docs" / "known.md", "known", "".join(f"{line}\n" for line in lines), regen)
