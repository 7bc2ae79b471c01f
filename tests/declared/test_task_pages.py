"""A declared corpus has a page in the dashboard, and its charts in the report."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run
from tests.declared.talks_in_files import build_talks, declared
from tests.declared.test_tasks import FILES, TASKS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    declaration = declared(*TASKS, title="A *salon*", description="Talks over tea.")
    return build_talks(tmp_path_factory.mktemp("salon"), FILES, declaration)


@pytest.fixture
def main_module() -> Iterator[None]:
    """Restore the main module, in place of which Streamlit's tests put the page."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.mark.usefixtures("main_module")
def test_its_page_is_drawn(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("streamlit", reason="Streamlit is not installed")
    from tests.talkhouse.dashboard.pages import draw

    monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
    page = draw("salon")
    assert not page.exception
    assert not page.error
    assert page.title[0].value == r"A \*salon\*"
    assert {metric.label: metric.value for metric in page.metric} == {
        "Dialogues": "5",
        "Turns": "10",
        "Labels": "14",
        "Examples": "29",
    }


def test_its_charts_are_in_the_report(warehouse: Path, tmp_path: Path) -> None:
    run("report", "--output", tmp_path / "report.html", "--db", warehouse)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for title in ("Turns by role", "Labels of mood", "Examples of each task by split", "Agreement of the annotators"):
        assert title in text
