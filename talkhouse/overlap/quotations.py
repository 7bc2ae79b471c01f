"""What a text quotes: which share of its runs of tokens stands in units of other owners, and where most of them do."""

from fractions import Fraction

import duckdb

from talkhouse.escaping import visible
from talkhouse.ingest.progress import Progress
from talkhouse.overlap.units import runs, too_many
from talkhouse.schema.sql_files import sql_of


def lowest(con: duckdb.DuckDBPyConnection, table: str, key: str, holders: str) -> None:
    """Create a table of what a key is held by in each place: the lowest unit of each of the two lowest owners."""
    con.execute(sql_of(__file__, "lowest", table=table, key=key, holders=holders))


def best(con: duckdb.DuckDBPyConnection, into: str, pairs: str, key: str, lowest_table: str) -> None:
    """Find the best that each form meets in each place, and the best of another owner than that.

    ``pairs`` has form_no, the key that it meets, shared, total, and score: higher is better, then the lower unit.
    ``into`` creates a table of them, or inserts them.
    """
    con.execute(sql_of(__file__, "best", into=into, pairs=pairs, key=key, lowest_table=lowest_table))


RUN = 8
"""Tokens of a run."""
_SHOWN = 100
"""Letters of the commonest text."""


MOST_MEETINGS = 1_000_000_000
"""Pairs of sets that a run may be in."""
_AT_ONCE = 20_000_000
"""Such pairs that are counted in one go, in memory."""

MOST_TEXTS = 20
"""What more texts than these say is a template's, where pairs are too many."""


def create_templates(con: duckdb.DuckDBPyConnection) -> int:
    """Create ``templates``, runs of tokens, and ``rare_runs``, which few texts have, for the units of a family.

    Returns the number of ``template_forms``, texts that have no runs but those of templates.
    """
    con.execute(sql_of(__file__, "templates", runs=runs("form", RUN), run=RUN, most=MOST_TEXTS))
    ((number,),) = con.execute("select count(*) from template_forms").fetchall()
    return int(number)


def create_quotations(con: duckdb.DuckDBPyConnection, least: Fraction, units: str, progress: Progress) -> None:
    """Add to ``met`` the ``contains`` matches of what has no closer match in a place.

    The search for the best unit goes over sets of runs that several owners have, not over texts: a sentence that a
    million texts have, each with words of its own, is one set. Raises QueryFailed for too many pairs of sets.
    """
    p, q = least.numerator, least.denominator
    con.execute(sql_of(__file__, "quotations", runs=runs("form", RUN), run=RUN, p=p, q=q))
    _find_witnesses(con, units, progress)
    con.execute(sql_of(__file__, "contained"))


def _find_witnesses(con: duckdb.DuckDBPyConnection, units: str, progress: Progress) -> None:
    """Create ``witnesses``: the units with most of the runs of each form that quotes."""
    con.execute(sql_of(__file__, "run_sets"))
    ((meetings, often, form),) = con.execute(sql_of(__file__, "set_meetings")).fetchall()
    if meetings > MOST_MEETINGS:
        found = f"{meetings:,}; a part of '{visible(form[:_SHOWN])}' in {often:,} texts or more"
        raise too_many(units, f"at most {MOST_MEETINGS:,} pairs that quote a run of {RUN} tokens", found, "--contains")
    con.execute(sql_of(__file__, "set_holders"))
    lowest(con, "set_lowest", "set_no", "set_holders")
    con.execute("create view set_lowest_met as select * rename (set_no as met_no) from set_lowest")
    pairs = "select set_no as form_no, other_set_no as met_no, shared, shared as total, shared as score from set_pairs"
    parts = 1 + meetings // _AT_ONCE
    progress.begin(f"{units}: quotations", records=parts, unit="parts")
    for part in range(parts):
        con.execute(sql_of(__file__, "set_pairs", parts=parts, part=part))
        best(con, "insert into set_best" if part else "create table set_best as", pairs, "met_no", "set_lowest_met")
        progress.advance(1)
    con.execute(sql_of(__file__, "witnesses"))
