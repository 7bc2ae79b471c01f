"""A warehouse with one invented corpus, for tests of the views for BI tools."""

from collections.abc import Iterator

import duckdb
import pytest

from talkhouse.load.base_copy import open_template
from talkhouse.queries.catalogue import catalogue
from tests.queries.bi_rows import A_CORPUS


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse with every table and view, and nothing in it but one corpus that no code knows."""
    path = tmp_path_factory.mktemp("toy") / "w.duckdb"
    with open_template(path, catalogue(), {}) as con:
        con.execute(A_CORPUS)
        con.execute(
            "insert into main.schemes (scheme, description, target) values ('toy.mood', 'How it sounds.', 'turn')"
        )
        yield con
