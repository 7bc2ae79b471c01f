"""Headlines, and what a limit leaves out: sentences with values of a query's row, and a message for what is wrong."""

from pathlib import Path

import duckdb
import pytest
from msgspec import structs

from talkhouse.charts.declarations import DeclaredDashboard, dashboards
from talkhouse.charts.declared import Chart, ChartKind, Metric
from talkhouse.charts.fields import frame
from talkhouse.charts.query import TIED, TOTAL, chart_sql, counted_sql
from talkhouse.charts.words import Cut, cut, headlines
from talkhouse.queries.files import Files, files_in
from talkhouse.schema.errors import CatalogueError
from tests.data_files import data_of
from tests.samples import RELEASES

CHART = '[[charts]]\ntitle = "Turns"\nkind = "number"\nview = "record_turns"\nmetrics = ["row_count"]\n'
MOST_DOUBTED = f"""
select dialogue_id, turn_index, record_id, entropy, votes
from (select *, annotator_count as votes from bi.turn_agreement where corpus_id = '{RELEASES}')
order by round(entropy, 9) desc, record_id, turn_index limit 1"""


def with_headlines(root: Path, *parts: tuple[str, str, str]) -> tuple[DeclaredDashboard, Files]:
    """Write a dashboard with these sentences, queries and further lines, and read it."""
    tables = [f'[[headlines]]\nsentence = "{sentence}"\nsql = """{sql}"""\n{more}\n' for sentence, sql, more in parts]
    path = root / "bi" / "dashboards" / "tea.toml"
    path.parent.mkdir(parents=True)
    path.write_text('title = "Tea"\ndescription = "Tea."\n' + "".join(tables) + CHART, encoding="utf-8")
    files = files_in([root])
    return dashboards(files)[0], files


def test_a_headline_says_what_its_row_has_and_where(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    board, files = with_headlines(
        tmp_path, ("Annotators disagree most at {entropy:decimal} bits of {votes:integer} votes.", MOST_DOUBTED, "")
    )
    (found,) = headlines(con, board, files)
    ((dialogue, turn, record, entropy, votes),) = con.execute(MOST_DOUBTED).fetchall()
    assert found.text == f"Annotators disagree most at {entropy:.2f} bits of {votes} votes."
    assert [text for text, is_value in found.parts if is_value] == [f"{entropy:.2f}", str(votes)]
    assert (found.dialogue_id, found.turn_index, found.record_id) == (dialogue, turn, record)


def test_values_are_written_by_their_format(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    sql = "select 0.363 as share, 5200 as turns, 'O {or} X' as labels, 2019 as year"
    sentence = "{share:percent} of {turns:integer} in {year}: {labels}, {{really}}."
    board, files = with_headlines(tmp_path, (sentence, sql, 'link = "tasks?task=a.b"'))
    (found,) = headlines(con, board, files)
    assert found.text == "36.3% of 5,200 in 2019: O {or} X, {really}."
    assert (found.dialogue_id, found.link) == (None, "tasks?task=a.b")


def test_what_has_no_row_or_a_null_is_left_out(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    board, files = with_headlines(
        tmp_path,
        ("Of {n} turns.", "select 1 as n where false", ""),
        ("Of {n:integer} turns.", "select null as n", ""),
        ("Of {n} words.", "select 3 as n, null as dialogue_id", ""),
    )
    assert [found.text for found in headlines(con, board, files)] == ["Of 3 words."]


@pytest.mark.parametrize(("sentence", "sql", "more", "problem"), data_of(__file__)["a_broken_headline_is_named"])
def test_a_broken_headline_is_named(tmp_path: Path, sentence: str, sql: str, more: str, problem: str) -> None:
    with pytest.raises(CatalogueError, match=rf"tea\.toml: the declaration is broken[\s\S]*{problem}"):
        with_headlines(tmp_path, (sentence, sql, more))


@pytest.mark.parametrize(
    ("sentence", "sql", "problem"),
    [
        ("{n} cups.", "select 1 as m", r"can't be said[\s\S]*a column n\n[\s\S]*the columns m"),
        ("{n:integer} cups.", "select 'two' as n", r"can't be said[\s\S]*a column n of numbers"),
        ("{n} cups.", "select unnest([1, 2]) as n", r"can't be said[\s\S]*a query of one row[\s\S]*2 rows"),
        ("{n} cups.", "select n from bi.mugs", r"can't be computed[\s\S]*mugs"),
    ],
)
def test_a_headline_that_can_not_be_said_is_named_with_its_line(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, sentence: str, sql: str, problem: str
) -> None:
    board, files = with_headlines(tmp_path, (sentence, sql, ""))
    with pytest.raises(CatalogueError, match=rf"tea\.toml:4: the headline '{{n[\s\S]*{problem}"):
        headlines(con, board, files)


SIPS = {"sips": Metric(title="Sips", sql="sum(sips)")}


@pytest.mark.parametrize(
    ("limit", "is_largest_first", "expected"),
    [
        (1, True, Cut(5, "")),
        (2, True, Cut(5, "3 tie at 4; 1 of them is shown, by who.")),
        (3, True, Cut(5, "3 tie at 4; 2 of them are shown, by who.")),
        (4, True, Cut(5, "")),
        (2, False, Cut(5, "")),
        (9, True, None),
    ],
)
def test_ties_at_the_limit_are_counted(limit: int, is_largest_first: bool, expected: Cut | None) -> None:
    table = Chart(title="Sips", kind=ChartKind.TABLE, view="cups", by=("who",), metrics=("sips",))
    chart = structs.replace(table, largest_first=is_largest_first, limit=limit)
    with duckdb.connect() as con:
        con.execute("create schema bi")
        con.execute(
            "create table bi.cups as "
            "from (values ('a', 9), ('b', 4), ('c', 3), ('c', 1), ('d', 4), ('e', 1)) cups(who, sips)"
        )
        rows = frame(con, counted_sql(chart, SIPS))
        assert cut(chart, SIPS, rows) == expected
        assert rows.drop(TOTAL, TIED).equals(frame(con, chart_sql(chart, SIPS)))
