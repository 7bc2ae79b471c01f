"""The memory limit of a build: what does not fit goes to the disk; too small a limit publishes nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import BuildResult, build
from talkhouse.schema.errors import BuildFailed, UsageError
from talkhouse.system.memory import MemoryLimit
from tests.commands import run

GREEDY = """-- No number is twice among many.
-- severity: error
select number from (select range % 4_999_999 as number from range(4_000_000)) group by number having count(*) > 1
"""
"""A check whose hash table has more than 64 MB."""


@pytest.fixture
def greedy(tmp_path: Path) -> tuple[Path]:
    """A folder of queries with a check that takes much memory."""
    (tmp_path / "queries" / "checks").mkdir(parents=True)
    (tmp_path / "queries" / "checks" / "greedy.sql").write_text(GREEDY)
    return (tmp_path / "queries",)


@pytest.mark.slow
def test_what_does_not_fit_is_written_to_the_disk(greedy: tuple[Path], tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    build(path, Silent(), only=("dbdc3",), memory_limit=MemoryLimit("64MB"), query_roots=greedy)
    with talkhouse.open(path) as con:
        assert con.execute("select count(*) > 20, sum(offending) from meta.checks").fetchall() == [(True, 0)]


@pytest.mark.parametrize(
    "limit", ["20MB", *(pytest.param(limit, marks=pytest.mark.slow) for limit in ("5KB", "1MB", "12MB"))]
)
def test_too_small_a_limit_publishes_nothing(rebuild: Callable[..., BuildResult], tmp_path: Path, limit: str) -> None:
    rebuild(only=("dbdc3",))
    published = (tmp_path / "w.duckdb").read_bytes()
    with pytest.raises(BuildFailed) as caught:
        rebuild(memory_limit=MemoryLimit(limit))
    assert "the published warehouse is unchanged" in str(caught.value)
    assert f"--memory-limit {limit}" in str(caught.value)
    assert "Out of Memory" in str(caught.value)
    assert "raise the limit" in str(caught.value)
    assert (tmp_path / "w.duckdb").read_bytes() == published
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


@pytest.mark.parametrize("text", ["2GB", "1.5 gib", "500mb", "25%", "100%"])
def test_sizes_and_shares(text: str) -> None:
    assert MemoryLimit(text).text == text


@pytest.mark.parametrize("text", ["", "2", "0MB", "-1GB", "101%", "none", "2GBs", "GB", "1e3MB"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--memory-limit[\s\S]*expected: +a size such as[\s\S]*found: +'"):
        MemoryLimit(text)


@pytest.mark.parametrize("command", [("build",), ("ingest", "dbdc3", "."), ("replay",), ("sql", "select 1")])
def test_the_commands_refuse_it_before_they_do_anything(command: tuple[str, ...], tmp_path: Path) -> None:
    shown = run(*command, "--memory-limit", "much", cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stderr.startswith("error: --memory-limit")
    assert list(tmp_path.iterdir()) == []
