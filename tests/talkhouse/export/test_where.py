"""The expression of ``--where``: what runs is what was checked, and nothing leads out of the rows and the warehouse."""

import re
import string
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.export.filters import FilteredRelation, condition_of
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.relations import columns_of
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.samples import RELEASES
from tests.talkhouse.export.ways_out import FAILS, HARMLESS, REFUSED, every

SCHEMA, NAME = RELEASES, "breakdown_detection"


def relation(con: duckdb.DuckDBPyConnection) -> FilteredRelation:
    return FilteredRelation(con, SCHEMA, NAME, columns(con))


@cache
def columns(con: duckdb.DuckDBPyConnection) -> list[str]:
    return [column["name"] for column in columns_of(con, SCHEMA, NAME)]


def count(con: duckdb.DuckDBPyConnection, condition: str) -> int:
    ((rows,),) = con.execute(f"select count(*) from {SCHEMA}.{NAME} where ({condition}\n)").fetchall()
    return int(rows)


def tried(con: duckdb.DuckDBPyConnection, expression: str) -> tuple[str | None, str]:
    try:
        return condition_of(relation(con), expression), ""
    except UsageError as error:
        return None, str(error)


NONE = [
    "1=1) or (true", "true) or (true", "true limit 5", "true; select 1", "true; copy (select 1) to 'x'",
    "select 1", "true union select 1", "true order by 1", "true group by all", "true having true",
    "true qualify true", "true using sample 1", "label = $1", "label = ?", "label = :x", "-- comment",
    "/* comment */", ";", "(", "label =", "label = 'x", "where true", "\x00", "\ud800", "#1 = 1", "default",
    "exists (pivot turns on role)",
]  # fmt: skip
OUT = data_of(__file__)["out"]  # fmt: skip


@pytest.mark.parametrize("expression", first_quick([*OUT[:9], *NONE[:6], *OUT[9:], *NONE[6:]], 15))
def test_what_is_no_expression_or_leads_out_is_refused(con: duckdb.DuckDBPyConnection, expression: str) -> None:
    with pytest.raises(UsageError, match="--where"):
        condition_of(relation(con), expression)


FITTING = [
    "label = 'O'", "label = 'it''s' or \"label\" = 'X' -- with a comment", "label /* any */ is not null;",
    "not (label in ('O', 'T') and turn_index between 1 and 3)", "utterance ilike '%you%' or context[1] like 'H%'",
    "len(list_filter(context, lambda text: text <> '')) > 1",
    f"{RELEASES}.strict_label(prob_o, prob_t, prob_x, 0.5) = 'X'",
    "dialogue_id in (with long as (select dialogue_id from turns where len(text) > 60) from long)",
    "turn_index = (select max(turn_index) from main.turns where turns.dialogue_id = breakdown_detection.dialogue_id)",
    "turn_index in (from range(2)) and prob_x + prob_t >= prob_o", "columns('prob_.') > 0", "lower(label) = 'o'",
    "case label when 'O' then true else turn_index % 2 = 0 end", "utterance <> e'a\\n\\'b' and label <> $$x'$$",
    "exists (select row_number() over (order by label) as place from main.labels qualify place = 1)",
    "split = 'dev' and try_cast(label as integer) is null", "(label, split) = ('O', 'dev')", "label = 'O' is true",
    "record_id in (select unnest([record_id])) and [turn for turn in context if turn <> ''] <> []",
]  # fmt: skip


@pytest.mark.parametrize("expression", first_quick(FITTING, 6))
def test_a_checked_expression_means_what_was_written(con: duckdb.DuckDBPyConnection, expression: str) -> None:
    assert count(con, condition_of(relation(con), expression)) == count(con, expression.rstrip(";"))


@pytest.fixture(scope="module")
def guarded(files: dict[Path, bytes]) -> Iterator[duckdb.DuckDBPyConnection]:
    (folder,) = {path.parent for path in files}
    with talkhouse.open(folder / "w.duckdb") as con:
        yield con


@pytest.mark.slow
def test_no_way_out_of_the_console_is_one_of_an_expression(guarded: duckdb.DuckDBPyConnection, folder: Path) -> None:
    for way in every(REFUSED, FAILS):
        query = way.format(dir=folder, db=folder / "w.duckdb")
        for expression in (query, f"exists ({query})", f"({query}) is not null", f"1 in ({query})"):
            condition, _ = tried(guarded, expression)
            # What is left reads the warehouse alone.
            assert condition is None or not SECRETS.search(condition), expression


SECRETS = re.compile(r"mine|passwd|environ|secret|out\.csv")


@pytest.mark.slow
def test_what_only_looks_like_a_way_out_shows_nothing(
    guarded: duckdb.DuckDBPyConnection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALKHOUSE_TEST_SECRET", "secret")
    for way in every(HARMLESS):
        query = way.format(dir=folder, db=folder / "w.duckdb").removesuffix(";")
        condition, _ = tried(guarded, f"exists (select 1 from ({query}) as t where t::varchar like '%secret%')")
        if condition is not None:
            with suppress(duckdb.Error):
                assert count(guarded, condition) == 0, query


@pytest.mark.slow
@pytest.mark.parametrize("levels", [200, 450, 900, 1100, 20_000])
@pytest.mark.parametrize(
    ("before", "middle", "after"),
    [("(", "true", ")"), ("not ", "true", ""), ("[", "1", "]"), ("true or ", "true", ""), ("1+(", "1", ")"),
     ("case when true then ", "true", " end"), ("exists (from turns where ", "true", ")"), ("label || ", "label", "")],
)  # fmt: skip
def test_depth_is_an_error_or_none(
    con: duckdb.DuckDBPyConnection, before: str, middle: str, after: str, levels: int
) -> None:
    _, message = tried(con, before * levels + middle + after * levels)
    assert len(message) < 2000


WORDS = st.sampled_from([
    "label", "turn_index", "'O'", "1", "=", "and", "or", "not", "(", ")", "null", "in", "like", "select", "from",
    "turns", "'", '"', ";", "--", "/*", "*/", ",", "limit", "union", "where", "exists", "read_text", "'/etc/passwd'",
    "with", "as", "x", "copy", "to", "is", "case", "when", "then", "end", "[", "]", "{", "}", "*", "$", "$$", "?",
    "::", "int",
])  # fmt: skip
EXPRESSIONS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join) | st.text(string.printable, max_size=40)


@pytest.mark.slow
@given(EXPRESSIONS)
def test_any_text_is_an_expression_or_gets_a_message(opened: duckdb.DuckDBPyConnection, expression: str) -> None:
    condition, message = tried(opened, expression)
    assert condition is not None or "--where" in message
    if condition is not None:
        assert condition_of(relation(opened), condition) == condition
        assert "read_text" not in condition.replace("'", "")


COLUMNS = st.sampled_from(["label", "utterance", "subset", "split", "release"])
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
ATOMS = st.one_of(
    st.builds(lambda column, text: f"{column} = '{text.replace(chr(39), chr(39) * 2)}'", COLUMNS, TEXTS),
    st.builds(lambda column, text: f"{column} like '%{text.replace(chr(39), chr(39) * 2)}%'", COLUMNS, TEXTS),
    st.builds(lambda low, high: f"turn_index between {low} and {high}", st.integers(-3, 5), st.integers(-3, 20)),
    st.builds(lambda column: f"{column} is null", COLUMNS),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.builds("{} and {}".format, parts, parts),
        st.builds("{} or {}".format, parts, parts),
        st.builds("not {}".format, parts),
        st.builds("({})".format, parts),
        st.builds("case when {} then {} else {} end".format, parts, parts, parts),
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(CONDITIONS)
def test_what_runs_is_what_was_written(opened: duckdb.DuckDBPyConnection, expression: str) -> None:
    assert count(opened, condition_of(relation(opened), expression)) == count(opened, expression)
