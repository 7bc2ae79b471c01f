"""Views that are asked more than once are held, and give the rows that they have."""

from pathlib import Path

import duckdb

import talkhouse
from talkhouse.report.held import Held

TWICE = ["turns", "turns", "word_count", "word_count", "dialogues"]


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return con.execute(sql).fetchall()


def test_a_view_that_is_asked_twice_is_held_and_a_macro_is_not(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        held = Held(con, [], TWICE)
        sql = "select sum(bi.word_count(text)), count(*) from bi.turns"
        ((database,),) = rows(con, "select current_database()")
        assert held.sql(sql) == sql.replace("bi.turns", f'"{database}_held".turns')
        assert rows(con, held.sql(sql)) == rows(con, sql)
        once = "select count(*) from bi.dialogues"
        assert held.sql(once) == once
        held.close()
        assert rows(con, "select count(*) from duckdb_databases() where database_name like '%_held'") == [(0,)]


def test_what_is_held_stands_in_no_table_s_way(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        held = Held(con, [], ["schemes", "schemes"])
        assert rows(con, held.sql("select count(used_label_count) > 0 from bi.schemes")) == [(True,)]
        assert rows(con, "select count(kind) > 0 from main.schemes") == [(True,)]
        held.close()
