"""Near texts: every pair of normal forms whose sets of shingles are as alike as the threshold, each counted exactly.

A prefix filter (AllPairs, PPJoin): the shingles of each text are ordered from the rarest to the commonest, and two
texts that are alike enough share one among the first few of both. What shares one is counted; nothing is guessed.
"""

from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import duckdb

from talkhouse.escaping import visible
from talkhouse.export.export import write_rows
from talkhouse.ingest.progress import Progress
from talkhouse.overlap.quotations import MOST_TEXTS
from talkhouse.overlap.units import runs, too_many
from talkhouse.schema.errors import QueryFailed
from talkhouse.schema.sql_files import sql_of

MOST_MEETINGS = 1_000_000_000
"""Pairs in which prefixes may meet, some of them several times."""
MOST_COMPARED = 5_000_000_000
"""Shingles of all pairs that are counted: five minutes for turns, a quarter of an hour for dialogues."""
_AT_ONCE = 50_000_000
"""Meetings that are looked at in one go, for what is distinct among them is held in memory."""

_SHOWN = 3
"""Of the shingles in which most of them meet."""


def create_near(
    con: duckdb.DuckDBPyConnection,
    threshold: Fraction,
    shingle: int,
    units: str,
    progress: Progress,
    *,
    has_templates: bool = False,
) -> None:
    """Create ``near``: pairs of forms, each in both directions, with shared and total shingles.

    ``units`` names what the forms are of. With templates, a pair shares something else, too: a shingle or run of
    tokens that few texts have. Raises TooManyPairs before they are made.
    """
    p, q = threshold.numerator, threshold.denominator
    prefix = _ceiling(f"{p} * size", q)
    con.execute(sql_of(__file__, "near_prefixes", runs=runs("form", shingle), shingle=shingle, needed=prefix))
    if has_templates:
        con.execute(sql_of(__file__, "near_templates", most=MOST_TEXTS))
    ((meetings,),) = con.execute("""
select coalesce(sum(times * (times - 1) // 2), 0)
from (select count(*) as times from prefixes group by shingle)
""").fetchall()
    if meetings > MOST_MEETINGS:
        _stop(con, shingle, units, f"at most {MOST_MEETINGS:,} pairs to look at", f"{meetings:,}")
    # Of a pair, the shorter first. Where a shingle is the first that they share, so many can follow in both.
    needed = _ceiling(f"{p} * (one.size + other.size)", p + q)
    con.execute("create table candidates (form_no bigint, other_form_no bigint, sizes bigint)")
    parts = 1 + meetings // _AT_ONCE
    progress.begin(f"{units}: near texts", records=parts, unit="parts")
    for part in range(parts):
        con.execute(sql_of(__file__, "near_candidates", p=p, q=q, both=p + q, needed=needed, parts=parts, part=part))
        ((pairs, sizes),) = con.execute("select count(*), coalesce(sum(sizes), 0) from candidates").fetchall()
        if sizes > MOST_COMPARED:
            most = f"at most {MOST_COMPARED:,} runs of {shingle} tokens to compare in all pairs"
            _stop(con, shingle, units, most, f"{sizes:,} in {pairs:,} pairs or more")
        progress.advance(1)
    con.execute(sql_of(__file__, "near", p=p, q=q))


def _ceiling(number: str, divisor: int) -> str:
    return f"(({number} + {divisor - 1}) // {divisor})"


def _stop(con: duckdb.DuckDBPyConnection, shingle: int, units: str, most: str, found: str) -> NoReturn:
    """Raise TooManyPairs where prefixes meet too often: a template that is said in thousands of variants."""
    hashes = ", ".join(f"hash(part[{place + 1}])" for place in range(shingle))
    query = sql_of(__file__, "commonest_parts", most=_SHOWN, inner=shingle - 2, last=shingle - 1, hashes=hashes)
    commonest = con.execute(query).fetchall()
    shown = "; ".join(f"'{visible(' '.join(words))}' in {times:,} texts" for times, words in commonest)
    raise too_many(units, most, f"{found}; the commonest parts: {shown}", "--threshold")


MOST = 10_000_000
PAIRED = ("turn", "dialogue")


def add_pairs(con: duckdb.DuckDBPyConnection, unit: str) -> None:
    """Add the pairs of a unit to the table of all, where its family is there; QueryFailed for too many of them."""
    ((existing,),) = con.execute("select count(*) from pairs_of_units").fetchall()
    ((number,),) = con.execute(sql_of(__file__, "pairs_count"), {"unit": unit}).fetchall()
    if existing + number > MOST:
        raise QueryFailed(
            "there are too many pairs to write them all; nothing was written",
            expected=f"at most {MOST:,} pairs",
            found=f"{existing + number:,} up to those of the unit {unit}",
            next_step="name fewer places with --against, raise --threshold, or name other units with --unit",
        )
    con.execute(sql_of(__file__, "pairs_insert"), {"unit": unit})


def write_pairs(con: duckdb.DuckDBPyConnection, output: Path, *, force: bool) -> int:
    """Write all pairs to a file, sorted by all columns; return their number. Raises what ``write_rows`` raises."""
    return write_rows(con, sql_of(__file__, "pairs"), output, force=force)
