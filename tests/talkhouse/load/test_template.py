"""The template that builds copy: the same as one that is made, and made again where it can't be used."""

import stat
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora
from talkhouse.load import base_copy
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.system import cache
from tests.data_files import data_of
from tests.samples import RELEASES

DESCRIBED = data_of(__file__)["described"]


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which templates are kept; there are none yet, and none came with the code."""
    monkeypatch.setattr(cache, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "talkhouse"


@pytest.fixture
def opened(tmp_path: Path, templates: Path) -> Callable[[str], list[tuple[object, ...]]]:
    assert not templates.exists()
    splits = {name: corpus.splits for name, corpus in corpora().items()}

    def run(name: str) -> list[tuple[object, ...]]:
        with base_copy.open_template(tmp_path / name, catalogue(), splits) as con:
            assert con.execute("from meta.alembic_version").fetchall()
            return con.execute(DESCRIBED).fetchall()

    return run


Opened = Callable[[str], list[tuple[object, ...]]]


@pytest.mark.slow
def test_one_that_came_with_the_code_is_only_read(opened: Opened, templates: Path, tmp_path: Path) -> None:
    first = opened("a.duckdb")
    assert len(first) > 1_000
    (path,) = templates.iterdir()
    inode = path.stat().st_ino
    assert opened("copied.duckdb") == first
    assert [path.stat().st_ino for path in templates.iterdir()] == [inode], "not made and kept again"
    templates.rename(tmp_path / "shipped")
    (path,) = (tmp_path / "shipped").iterdir()
    path.chmod(0o444)
    (tmp_path / "shipped").chmod(0o555)
    assert opened("b.duckdb") == first
    assert not list(templates.glob("*")), "made again"
    (tmp_path / "shipped").chmod(0o755)
    path.rename(path.with_stem(f"{base_copy.KEPT.kind}-{'0' * 32}"))
    assert opened("c.duckdb") == first
    assert len(list(templates.iterdir())) == 1, "made, where what came with the code is another"


def test_a_corpus_without_tasks_needs_no_other_one() -> None:
    splits = {name: corpus.splits for name, corpus in corpora().items()}
    key = base_copy.template_key(catalogue(), splits)
    assert base_copy.template_key(catalogue(), {**splits, "bus_talk": ("train",)}) == key
    assert base_copy.template_key(catalogue(), {**splits, "dbdc3": ("another",)}) != key


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "never written": lambda _: b"",
    "something else": lambda _: b"no database",
    "cut off": lambda whole: whole[: len(whole) // 2],
    "garbled": lambda whole: whole[:20_000] + bytes(len(whole) - 20_000),
}


@pytest.mark.slow
def test_one_that_is_not_whole_is_made_again(opened: Opened, templates: Path) -> None:
    first = opened("a.duckdb")
    (path,) = templates.iterdir()
    whole = path.read_bytes()
    for how, broken in BROKEN.items():
        path.write_bytes(broken(whole))
        assert opened(f"{how} b.duckdb") == first, how
        assert opened(f"{how} c.duckdb") == first, how
        (path,) = templates.iterdir()
        assert len(path.read_bytes()) == len(whole), how


@pytest.mark.slow
def test_where_nothing_can_be_kept_it_is_made_each_time(opened: Opened, templates: Path) -> None:
    templates.parent.mkdir()
    templates.write_text("a file in the folder's place")
    assert opened("a.duckdb") == opened("b.duckdb")
    assert templates.is_file()


@pytest.mark.slow
def test_another_catalogue_has_another_one(tmp_path: Path, templates: Path) -> None:
    for number in range(9):
        query = tmp_path / f"{number}" / "toy" / "one.sql"
        query.parent.mkdir(parents=True)
        query.write_text(f"-- A row.\n-- grain: a\nselect {number} as a\n")
        with base_copy.open_template(tmp_path / f"{number}.duckdb", catalogue([tmp_path / f"{number}"]), {}) as con:
            assert con.execute("from toy.one").fetchall() == [(number,)]
    assert len(list(templates.iterdir())) == 8


@pytest.mark.slow
def test_a_warehouse_of_a_copy_is_like_one_that_was_made(tmp_path: Path, templates: Path) -> None:
    paths = [tmp_path / "made.duckdb", tmp_path / "copied.duckdb"]
    for path in paths:
        build(path, Silent(), only=(RELEASES,))
        assert stat.S_IMODE(path.stat().st_mode) == 0o444
    found = []
    for path in paths:
        with duckdb.connect(path, read_only=True) as con:
            found.append(con.execute(DESCRIBED).fetchall())
    assert found[0] == found[1]
    assert len(list(templates.glob("template-*"))) == 1
