"""What a text quotes: which share of its runs of tokens stands in units of other owners, and where most of them do."""

from fractions import Fraction

import duckdb

from talkhouse.escaping import visible
from talkhouse.overlap.units import runs, too_many
from talkhouse.schema.sql_files import sql_of


def lowest(con: duckdb.DuckDBPyConnection, table: str, key: str, holders: str) -> None:
    """Create a table of what a key is held by in each place: the lowest unit of each of the two lowest owners."""
    con.execute(sql_of(__file__, "lowest", table=table, key=key, holders=holders))


def best(con: duckdb.DuckDBPyConnection, table: str, pairs: str, key: str, lowest_table: str) -> None:
    """Create a table of the best that each form meets in each place, and of the best of another owner than that.

    ``pairs`` has form_no, the key that it meets, shared, total, and score: higher is better, then the lower unit.
    """
    con.execute(sql_of(__file__, "best", table=table, pairs=pairs, key=key, lowest_table=lowest_table))


RUN = 8
"""Tokens of a run."""
_SHOWN = 100
"""Letters of the commonest text."""


MOST_MEETINGS = 1_000_000_000
"""Pairs of sets that a run may be in."""


def create_quotations(con: duckdb.DuckDBPyConnection, least: Fraction, units: str) -> None:
    """Add to ``met`` the ``contains`` matches of what has no closer match in a place.

    The search for the best unit goes over sets of runs that several owners have, not over texts: a sentence that a
    million texts have, each with words of its own, is one set. Raises QueryFailed for too many pairs of sets.
    """
    p, q = least.numerator, least.denominator
    con.execute(sql_of(__file__, "quotations", runs=runs("form", RUN), run=RUN, p=p, q=q))
    _find_witnesses(con, units)
    con.execute(sql_of(__file__, "contained"))


def _find_witnesses(con: duckdb.DuckDBPyConnection, units: str) -> None:
    """Create ``witnesses``: the units with most of the runs of each form that quotes."""
    con.execute(sql_of(__file__, "run_sets"))
    ((meetings, often, form),) = con.execute(sql_of(__file__, "set_meetings")).fetchall()
    if meetings > MOST_MEETINGS:
        found = f"{meetings:,}; a part of '{visible(form[:_SHOWN])}' in {often:,} texts or more"
        raise too_many(units, f"at most {MOST_MEETINGS:,} pairs that quote a run of {RUN} tokens", found, "--contains")
    con.execute(sql_of(__file__, "set_holders"))
    lowest(con, "set_lowest", "set_no", "set_holders")
    con.execute(sql_of(__file__, "set_pairs"))
    best(
        con,
        "set_best",
        "select set_no as form_no, other_set_no as met_no, shared, shared as total, shared as score from set_pairs",
        "met_no",
        "set_lowest_met",
    )
    con.execute(sql_of(__file__, "witnesses"))
