"""A report on the sample, read."""

from pathlib import Path

import pytest

from tests.commands import run
from tests.talkhouse.report.page import Page


@pytest.fixture(scope="session")
def reported(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the command has written ``r.html``, and what it said."""
    folder = tmp_path_factory.mktemp("report")
    done = run("report", "--output", "r.html", "--db", sample, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture(scope="session")
def report(reported: tuple[Path, str]) -> Path:
    return reported[0] / "r.html"


@pytest.fixture(scope="session")
def page(report: Path) -> Page:
    return Page(report)
