"""The best match of each unit in each place, of one family of units."""

from fractions import Fraction

import duckdb

from talkhouse.ingest.progress import Progress
from talkhouse.overlap.overlap_file import KINDS
from talkhouse.overlap.quotations import best, create_quotations, lowest
from talkhouse.schema.sql_files import sql_of


def create_matches(con: duckdb.DuckDBPyConnection, contains: Fraction, units: str, progress: Progress) -> None:
    """Add the matches of a family to ``rows``, where its ``near`` is there; QueryFailed names the ``units``."""
    lowest(con, "text_lowest", "text_no", "holders")
    lowest(con, "form_lowest", "form_no", "form_holders")
    con.execute(sql_of(__file__, "alike"))
    pairs = "select form_no, other_form_no as met_no, shared, total, shared / total as score from near"
    con.execute("create view form_lowest_met as select * rename (form_no as met_no) from form_lowest")
    best(con, "create table near_best as", pairs, "met_no", "form_lowest_met")
    con.execute(sql_of(__file__, "near_matches"))
    con.execute(sql_of(__file__, "met"))
    create_quotations(con, contains, units, progress)
    con.execute(sql_of(__file__, "rows"))


_CLOSENESS = "list_position([{}], kind)".format(", ".join(f"'{kind}'" for kind in KINDS))


def insert_examples(con: duckdb.DuckDBPyConnection, warehouse: str, result: str) -> None:
    """Insert into ``result`` a verdict for each example of a place that is not in the table ``against``.

    ``published`` and ``against`` are in the current database. A dialogue that has no place can't be judged.
    """
    for unit in ("dialogue", "turn", "context"):
        key = "place, owner" if unit == "dialogue" else "place, owner, turn_index"
        con.execute(sql_of(__file__, "best_matches", key=key, closeness=_CLOSENESS, result=result, unit=unit))
    best = ", ".join(
        f"{unit}.best.{field} as {unit}_{field}"
        for unit in ("dialogue", "turn", "context")
        for field in ("kind", "similarity", "place", "dialogue_id", "turn_index")
        if (unit, field) != ("dialogue", "turn_index")
    )
    con.execute(sql_of(__file__, "examples", result=result, warehouse=warehouse, best=best))
