"""A bundle of the sample, read."""

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import duckdb
import pytest
import yaml

from talkhouse.superset.bundle import Bundle, write_bundle
from tests.talkhouse.superset.server import Superset

THERE = PurePosixPath("/srv/talkhouse.duckdb")
"""Where the warehouse is said to be."""


class Contents:
    """What is in a bundle, by name of the file without its ending."""

    def __init__(self, path: Path) -> None:
        with ZipFile(path) as archive:
            self.texts = {info.filename: archive.read(info).decode() for info in archive.infolist()}
        self.everything = {name: yaml.load(text, yaml.CSafeLoader) for name, text in self.texts.items()}
        ((self.database),) = self._of("databases").values()
        self.datasets = self._of("datasets")
        self.charts = self._of("charts")
        self.dashboards = self._of("dashboards")

    def _of(self, folder: str) -> dict[str, Any]:
        return {Path(name).stem: value for name, value in self.everything.items() if name.split("/")[1] == folder}

    def by_uuid(self, kind: str) -> dict[str, Any]:
        """Key datasets, charts or dashboards by their UUIDs."""
        return {item["uuid"]: item for item in getattr(self, kind).values()}


@pytest.fixture(scope="session")
def written(opened: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    with opened.cursor() as con:
        return write_bundle(con, tmp_path_factory.mktemp("bundle") / "bundle.zip", THERE)


@pytest.fixture(scope="session")
def bundle(written: Bundle) -> Path:
    return written.path


@pytest.fixture(scope="session")
def contents(bundle: Path) -> Contents:
    return Contents(bundle)


@pytest.fixture(scope="session")
def superset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Superset]:
    """Superset, installed and with nothing in it; its 700 MB are removed at the end."""
    folder = tmp_path_factory.mktemp("superset")
    try:
        yield Superset(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
