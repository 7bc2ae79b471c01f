"""A folder that may not be entered, on every way in: one message that says which, and what to do; no traceback."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.registry import all_corpora, corpora, sample_of
from talkhouse.ingest.registry.origins import folders_in
from talkhouse.load.request import from_data
from talkhouse.schema.errors import NotAWarehouse, SourceError, UsageError
from tests.commands import run
from tests.lanes import first_quick
from tests.root_rights import drop
from tests.samples import GROUPS, POSTS, RELEASES

CORPUS, OTHER = corpora()[GROUPS], corpora()[RELEASES]
TASK = f"{GROUPS}.probing_target"
DUMPS = Path(__file__).parents[3] / "docs" / "dumps"
BESIDE = {"TALKHOUSE_DB": "w.duckdb"}

WAYS: dict[str, tuple[list[str], dict[str, str]]] = {
    "a warehouse": (["status", "--db", "closed/in/w.duckdb"], {}),
    "a warehouse to build": (["build", "--db", "closed/in/w.duckdb"], {}),
    "a data folder": (["build", "--data", "closed/in"], {}),
    "a folder of corpora": (["check"], {**BESIDE, "TALKHOUSE_CORPORA": "closed/in"}),
    "files to ingest": (["ingest", CORPUS.id, "closed/in"], {}),
    "a file to inspect": (["inspect", "closed/a.csv"], {}),
    "predictions": (["score", TASK, "closed/in"], BESIDE),
    "an export": (["export", "turns", "--output", "closed/a.csv"], BESIDE),
    "rows": (["sql", "select 1", "--format", "csv", "--output", "closed/a.csv"], BESIDE),
    "dumps": (["make", POSTS, "closed", "--output", "made"], {}),
}
MORE: dict[str, tuple[list[str], dict[str, str]]] = {
    "what lies next to a warehouse": (["files", "--db", "closed/in/w.duckdb"], {}),
    "a warehouse of the environment": (["check"], {"TALKHOUSE_DB": "closed/w.duckdb"}),
    "a warehouse for the browser": (["dashboard", "--db", "closed/w.duckdb"], {}),
    "a data folder itself": (["build", "--data", "closed"], {}),
    "a folder to fetch into": (["fetch", OTHER.id, "--data", "closed/in"], {}),
    "a folder to fetch into itself": (["fetch", OTHER.id, "--data", "closed"], {}),
    "a folder to verify": (["verify", "--data", "closed"], BESIDE),
    "a folder of corpora of an option": (["corpora", "--corpora", "closed/in"], {}),
    "a folder of corpora itself": (["build", "--corpora", "closed"], {}),
    "a folder to declare": (["new", "closed/in"], {}),
    "a folder to declare itself": (["new", "closed"], {}),
    "a folder for a corpus": (["new", "corpus", "tea", "closed/in", "--like", "json-list"], {}),
    "predictions in the folder itself": (["score", TASK, "closed"], BESIDE),
    "an export to cite": (["cite", "closed/a.csv"], BESIDE),
    "a package": (["export", CORPUS.id, "--for", "convokit", "--output", "closed/in"], BESIDE),
    "restored files": (["restore", CORPUS.id, "--output", "closed/in"], BESIDE),
    "restored files in the folder itself": (["restore", CORPUS.id, "--output", "closed"], BESIDE),
    "a lake": (["lake", "closed/in"], BESIDE),
    "a lake to read": (["lake", "closed/in", "--sql"], BESIDE),
}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """A folder with one that may not be entered."""
    closed = tmp_path / "closed"
    (closed / "in").mkdir(parents=True)
    closed.chmod(0)
    yield tmp_path
    closed.chmod(0o755)


@pytest.mark.usefixtures("unprivileged")
@pytest.mark.parametrize("way", [*WAYS, *(pytest.param(way, marks=pytest.mark.slow) for way in MORE)])
def test_a_folder_that_may_not_be_entered_is_one_message(way: str, here: Path, sample: Path) -> None:
    arguments, environment = {**WAYS, **MORE}[way]
    (here / "w.duckdb").symlink_to(sample)
    done = run(*arguments, cwd=here, env=environment, before=drop)
    assert done.returncode in (1, 2), done.stderr
    assert done.stderr.count("error: ") == 1, done.stderr
    for word in ("denied", "expected:", "next:", "closed'"):  # it is the folder that is to be allowed
        assert word in done.stderr, done.stderr
    assert sorted(path.name for path in here.iterdir()) == ["closed", "w.duckdb"]


READING: dict[str, list[str]] = {
    "a data folder": ["build", "--data", "fixed/data", "--db", "own.duckdb"],
    "a warehouse": ["status"],
    "a warehouse and files": ["verify", "--data", "fixed/data", "--corpus", CORPUS.id],
    "a file": ["inspect", "fixed/talks/a.jsonl"],
    "a folder of corpora": ["check", "--corpora", "fixed/corpora"],
    "a query": ["sql", "select count(*) from main.turns"],
    "dumps": ["make", POSTS, "fixed/dumps", "--negatives", "none", "--dry-run"],
}
WRITING: dict[str, list[str]] = {
    "a declaration": ["new", "fixed/talks"],
    "a build": ["build", "--data", "fixed/data"],
    "an own corpus": ["ingest", "talks", "fixed/talks/a.jsonl", "--format", "chat", "--map", "id=id"],
    "a corpus": ["new", "corpus", "tea", "fixed/talks", "--like", "json-list"],
    "an export": ["export", "turns", "--output", "fixed/talks/a.csv"],
    "a package": ["export", CORPUS.id, "--for", "convokit", "--output", "fixed/talks/a"],
    "rows": ["sql", "select 1", "--output", "fixed/talks/a.csv"],
    "a report": ["report", "--output", "fixed/talks/a.html"],
    "restored files": ["restore", CORPUS.id, "--output", "fixed/talks/a"],
    "a lake": ["lake", "fixed/talks/a"],
    "made files": ["make", POSTS, "fixed/dumps", "--negatives", "none", "--output", "fixed/talks/a"],
}


CHATS = 'title = "Chats"\nformat = "chat"\n[[files]]\npath = "*.jsonl"\n[dialogue]\nid = "id"\n'


@pytest.fixture
def fixed(tmp_path: Path, sample: Path) -> Iterator[Path]:
    """A folder with a read-only one, all folders inside of it included."""
    folder = tmp_path / "fixed"
    shutil.copytree(sample_of(CORPUS), folder / "data" / CORPUS.id)
    shutil.copytree(DUMPS, folder / "dumps")
    (folder / "talks").mkdir()
    messages = [{"role": "user", "content": "Fog?"}, {"role": "assistant", "content": "Yes."}]
    (folder / "talks" / "a.jsonl").write_text(json.dumps({"id": "a", "messages": messages}))
    (folder / "corpora" / "chats").mkdir(parents=True)
    (folder / "corpora" / "chats" / "corpus.toml").write_text(CHATS)
    shutil.copy(sample, folder / "w.duckdb")
    inside = [folder, *folder.rglob("*")]
    for path in inside:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield tmp_path
    for path in inside:
        path.chmod(0o755)


@pytest.mark.usefixtures("unprivileged")
@pytest.mark.slow
@pytest.mark.parametrize("what", READING)
def test_what_is_read_may_lie_where_nobody_may_write(what: str, fixed: Path) -> None:
    done = run(*READING[what], cwd=fixed, env={"TALKHOUSE_DB": "fixed/w.duckdb"}, before=drop)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("unprivileged")
@pytest.mark.parametrize("what", first_quick(WRITING))
def test_a_command_says_what_it_needs_to_write(what: str, fixed: Path) -> None:
    before = sorted(path.relative_to(fixed) for path in fixed.rglob("*"))
    done = run(*WRITING[what], cwd=fixed, env={"TALKHOUSE_DB": "fixed/w.duckdb"}, before=drop)
    assert done.returncode in (1, 2), done.stderr
    for word in ("fixed", "expected:", "enied", "next:"):
        assert word in done.stderr, done.stderr
    assert sorted(path.relative_to(fixed) for path in fixed.rglob("*")) == before


@pytest.mark.usefixtures("unprivileged")
def test_python_gets_errors_of_talkhouse(here: Path) -> None:
    with pytest.raises(NotAWarehouse, match="closed may not be entered"):
        talkhouse.open(here / "closed" / "w.duckdb")
    for folder in (here / "closed", here / "closed" / "in", here):
        with pytest.raises(UsageError, match=r"closed may not be entered[\s\S]*chmod"):
            folders_in(folder)


@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_is_not_to_be_read_may_be_closed(tmp_path: Path) -> None:
    shutil.copytree(sample_of(CORPUS), tmp_path / CORPUS.id)
    (tmp_path / "lost+found").mkdir(mode=0)
    (tmp_path / OTHER.id).mkdir(mode=0)
    known = all_corpora(data=tmp_path)
    (taken,) = from_data(known, tmp_path, [CORPUS.id]).inputs
    assert taken.corpus.id == CORPUS.id
    (tmp_path / OTHER.id).rename(tmp_path / "of_somebody")
    with pytest.raises(SourceError, match=r"of_somebody: permission denied[\s\S]*chmod"):
        from_data(known, tmp_path, [])
    (tmp_path / "of_somebody").rmdir()
    assert from_data(known, tmp_path, []).ignored == ()
