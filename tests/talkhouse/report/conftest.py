"""A report on the sample, read."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.report.write import write_report
from tests.talkhouse.report.page import Page


@pytest.fixture(scope="session")
def report(opened: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    with opened.cursor() as con:
        write_report(con, path)
    return path


@pytest.fixture(scope="session")
def page(report: Path) -> Page:
    return Page(report)
