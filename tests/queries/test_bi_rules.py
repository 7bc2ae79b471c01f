"""What holds for every view for BI tools, so that one filter acts on all charts and counts can be added up."""

import shutil
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from talkhouse.queries.heads import Query
from tests.conftest import Build
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.queries.bi_rows import VIEWS, read, records_of

DATA = data_of(__file__)

PUBLISHED = ("release", "split", "standard_split")
NOT_PUBLISHED = DATA["not_published"]
"""Views that one can't filter by release and split, and why."""

NO_DEFAULT = {
    "bi.default_releases": "tells them",
    "bi.findings": "a finding is one of a file",
    "bi.splits": "a row is a split whole, and counts both",
}
"""Views with a release whose rows are no publications, and why."""

AS_BUILT = {
    "bi.corpora": "counts all that was loaded",
    "bi.loads": "tells when",
    "bi.source_files": "lists every file",
    "bi.provenance": "leads to every file",
    "bi.findings": "tell it",
}
"""Views that show a file that occurs twice, and why."""

RATIOS = DATA["ratios"]
"""Each share, rate or mean with the counts that it is made of."""

_AGREEMENT = dict.fromkeys(("mean_majority_share", "mean_entropy"), "unit_count")
_AGREEMENT |= {"observed_disagreement": "rating_count"}
WEIGHTED = {
    **dict.fromkeys(("bi.subset_agreement", "bi.scheme_agreement"), _AGREEMENT),
    "bi.dbdc3_breakdown_by_position": dict.fromkeys(("share_o", "share_t", "share_x", "mean_entropy"), "turn_count"),
}
"""Means of what is no count, with the count that weighs them."""

NO_MEANS = DATA["no_means"]
"""Numbers of one row, and measures of which the comments say that they can't be combined."""

TIMES = {"corpora": "exclude (built_at)", "loads": "exclude (started_at, finished_at, milliseconds)"}
"""What differs between two builds of the same files."""

EVERY_VIEW = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.full_name)


def types(con: duckdb.DuckDBPyConnection, view: Query) -> dict[str, str]:
    return {row["column_name"]: row["column_type"] for row in read(con, f"describe {view.full_name}")}


def rounded(con: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    """Read rows in an order of their own; sums of fractions depend on the order in their last digit."""
    rows = con.execute(query).fetchall()
    return sorted(
        (tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in rows), key=repr
    )


@EVERY_VIEW
def test_every_view_can_be_filtered(view: Query, con: duckdb.DuckDBPyConnection) -> None:
    columns = types(con, view)
    assert "corpus_id" in columns
    assert (set(PUBLISHED) <= columns.keys()) == (view.full_name not in NOT_PUBLISHED)
    assert not columns.keys() & {"releases", "splits", "standard_splits", "subsets"}, "joined strings"


@EVERY_VIEW
def test_release_and_splits_are_those_of_the_records(view: Query, con: duckdb.DuckDBPyConnection) -> None:
    columns = ["corpus_id", *(name for name in PUBLISHED if name in types(con, view))]
    places = {tuple(row[name] for name in columns) for row in read(con, "from main.records")}
    places |= {(row["corpus_id"], None, None, None) for row in read(con, "from meta.findings")}
    found = {tuple(row.values()) for row in read(con, f"select distinct {', '.join(columns)} from {view.full_name}")}
    # A task may make examples of one split from the records of another.
    assert found - places - {("blended_skill_talk", None, "test", "validation")} == set()


@EVERY_VIEW
def test_rows_of_publications_say_which_is_the_default(view: Query, con: duckdb.DuckDBPyConnection) -> None:
    columns = types(con, view)
    releases = {row["corpus_id"] for row in read(con, "from bi.default_releases")}
    is_asked = (
        bool(columns.keys() & {"release", "release_before"})
        and view.path.parent.parent.name not in corpora().keys() - releases
    )
    assert ("is_default" in columns) == (is_asked and view.full_name not in NO_DEFAULT)
    if {"is_default", "record_id"} <= columns.keys():
        records = records_of(con)
        rows = read(con, f"select distinct record_id, release, split, is_default from {view.full_name}")
        differing = [row for row in rows if row["is_default"] != records[row["record_id"]]["is_default"]]
        assert {(row["release"], row["split"]) for row in differing} <= {(None, None)}


@EVERY_VIEW
def test_a_row_has_the_corpus_of_its_keys(view: Query, con: duckdb.DuckDBPyConnection) -> None:
    keys = [name for name in ("dialogue_id", "record_id", "scheme", "speaker_id") if name in types(con, view)]
    others = [f"({key} is not null and starts_with({key}, corpus_id) is not true)" for key in keys]
    if (owner := view.path.parent.parent.name) in corpora():
        others.append(f"corpus_id is distinct from '{owner}'")
    assert not others or read(con, f"from {view.full_name} where {' or '.join(others)}") == []


@pytest.mark.slow
@pytest.mark.parametrize("corpus_id", corpora())
def test_a_filter_on_the_corpus_gives_the_rows_of_a_warehouse_without_the_others(
    corpus_id: str, con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    build(tmp_path / "w.duckdb", Silent(), only=(corpus_id,))
    with talkhouse.open(tmp_path / "w.duckdb") as alone:
        for view in VIEWS:
            query = f"select * {TIMES.get(view.name, '')} from {view.full_name} where corpus_id = '{corpus_id}'"
            assert rounded(con, query) == rounded(alone, query), view.full_name
            others = f"select count(*) from {view.full_name} where corpus_id <> '{corpus_id}'"
            assert alone.execute(others).fetchall() == [(0,)], view.full_name


@pytest.mark.slow
@pytest.mark.parametrize("corpus_id", first_quick(["dbdc3", "blended_skill_talk", "delidata", "mpchat"]))
def test_a_file_that_occurs_twice_counts_once(corpus_id: str, build_data: Build, tmp_path: Path) -> None:
    sample = sample_of(corpora()[corpus_id])
    for name in ("once", "twice"):
        shutil.copytree(sample, tmp_path / name / corpus_id)
    with zipfile.ZipFile(tmp_path / "twice" / corpus_id / "again.zip", "w") as archive:
        for path in (path for path in sample.rglob("*") if path.is_file() and path.suffix != ".context"):
            archive.write(path, path.relative_to(sample))
    once, twice = build_data(tmp_path / "once"), build_data(tmp_path / "twice")
    for view in (view for view in VIEWS if view.full_name not in AS_BUILT):
        files = "exclude (source_file_id)" if view.name == "examples" else ""
        query = f"select * {files} from {view.full_name}"
        assert rounded(twice, query) == rounded(once, query), view.full_name


@EVERY_VIEW
def test_every_fraction_is_declared_with_its_counts(view: Query, con: duckdb.DuckDBPyConnection) -> None:
    doubles = {name for name, kind in types(con, view).items() if kind == "DOUBLE"}
    declared = [RATIOS.get(view.full_name, {}), WEIGHTED.get(view.full_name, {}), NO_MEANS.get(view.full_name, [])]
    assert doubles == {name for some in declared for name in some}
    whole = {"INTEGER", "BIGINT"}
    counts = {name for pair in RATIOS.get(view.full_name, {}).values() for name in pair}
    counts |= set(WEIGHTED.get(view.full_name, {}).values())
    assert {types(con, view)[name] for name in counts} <= whole


@pytest.mark.parametrize("name", RATIOS)
def test_a_share_is_one_count_by_the_other(name: str, con: duckdb.DuckDBPyConnection) -> None:
    rows = read(con, f"from {name}")
    assert rows
    for share, (part, whole) in RATIOS[name].items():
        for row in rows:
            expected = row[part] / row[whole] if row[whole] else None
            assert row[share] == (expected if expected is None else pytest.approx(expected))
            if not share.startswith("mean_"):
                assert 0 <= row[part] <= row[whole]


def test_weighted_means_make_those_of_the_whole(con: duckdb.DuckDBPyConnection) -> None:
    parts = read(con, "from bi.subset_agreement")
    for row in read(con, "from bi.scheme_agreement"):
        of_scheme = [part for part in parts if part["scheme"] == row["scheme"]]
        mine = [
            part
            for part in of_scheme
            if part["is_default" if row["is_default"] else "release"] in (True, row["release"])
        ]
        for mean, weight in WEIGHTED["bi.subset_agreement"].items():
            whole = sum(part[weight] for part in mine)
            assert row[weight] == whole
            assert row[mean] == pytest.approx(sum(part[mean] * part[weight] for part in mine) / whole)


def test_what_null_means_is_said_of_every_release(con: duckdb.DuckDBPyConnection) -> None:
    comments = read(
        con,
        "select table_name, comment from duckdb_columns() "
        "where schema_name = 'bi' and column_name = 'release' and not internal",
    )
    assert len(comments) == len([view for view in VIEWS if "release" in types(con, view)])
    assert [row["table_name"] for row in comments if "null" not in row["comment"].lower()] == []
