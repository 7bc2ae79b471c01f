"""Near texts: every pair of normal forms whose sets of shingles are as alike as the threshold, each counted exactly.

A prefix filter (AllPairs, PPJoin): the shingles of each text are ordered from the rarest to the commonest, and two
texts that are alike enough share one among the first few of both. What shares one is counted; nothing is guessed.
"""

from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import duckdb

from talkhouse.overlap.units import OWNER_OF, TURN_INDEX_OF, runs, too_many
from talkhouse.query.export import write_rows
from talkhouse.schema.errors import QueryFailed
from talkhouse.visible import visible

MOST_MEETINGS = 1_000_000_000
"""Pairs in which prefixes may meet, some of them several times."""
MOST_COMPARED = 5_000_000_000
"""Shingles of all pairs that are counted: five minutes for turns, a quarter of an hour for dialogues."""
_AT_ONCE = 50_000_000
"""Meetings that are looked at in one go, for what is distinct among them is held in memory."""

_SHOWN = 3
"""Of the shingles in which most of them meet."""


def create_near(con: duckdb.DuckDBPyConnection, threshold: Fraction, shingle: int, units: str) -> None:
    """Create ``near``: pairs of forms, each in both directions, with shared and total shingles.

    ``units`` names what the forms are of in the error. Raises QueryFailed for too many pairs, before they are made.
    """
    p, q = threshold.numerator, threshold.denominator
    con.execute(f"""
create table shingles as
select form_no, len(found) as size, unnest(found) as shingle
from (select form_no, {runs("form", shingle)} as found from forms where tokens >= {shingle})
""")
    # What stands in one text only can't be shared, and comes first in the order: it only counts.
    con.execute("""
create table common as
select form_no, size, shingle, frequency
from shingles
inner join (
    select shingle, count(*) as frequency from shingles group by shingle having count(*) > 1
) using (shingle)
""")
    con.execute("drop table shingles")
    con.execute(f"""
create table prefixes as
select form_no, size, shingle, place
from (
    select
        form_no,
        size,
        shingle,
        size - count(*) over (partition by form_no) + row_number() over (
            partition by form_no order by frequency, shingle
        ) as place,
    from common
)
where place <= size - {_ceiling(f"{p} * size", q)} + 1
""")
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
    for part in range(parts):
        con.execute(f"""
insert into candidates
select distinct one.form_no, other.form_no as other_form_no, one.size + other.size as sizes
from prefixes as one
inner join prefixes as other
    on other.shingle = one.shingle
    and (one.size, one.form_no) < (other.size, other.form_no)
    and one.size * {q} >= other.size * {p}
    and 1 + least(one.size - one.place, other.size - other.place) >= {needed}
where one.form_no % {parts} = {part}
""")
        ((pairs, sizes),) = con.execute("select count(*), coalesce(sum(sizes), 0) from candidates").fetchall()
        if sizes > MOST_COMPARED:
            most = f"at most {MOST_COMPARED:,} runs of {shingle} tokens to compare in all pairs"
            _stop(con, shingle, units, most, f"{sizes:,} in {pairs:,} pairs or more")
    con.execute("drop table prefixes")
    con.execute("""
create table lists as
select form_no, any_value(size) as size, list(shingle) as common from common group by form_no
""")
    con.execute("drop table common")
    con.execute(f"""
create table pairs as
select form_no, other_form_no, shared, size + other_size - shared as total
from (
    select
        candidates.form_no,
        candidates.other_form_no,
        one.size,
        other.size as other_size,
        len(list_intersect(one.common, other.common)) as shared,
    from candidates
    inner join lists as one on one.form_no = candidates.form_no
    inner join lists as other on other.form_no = candidates.other_form_no
)
where total * {p} <= shared * {q}
""")
    con.execute("drop table candidates")
    con.execute("drop table lists")
    con.execute("""
create table near as
from pairs
union all
select other_form_no, form_no, shared, total from pairs
""")
    con.execute("drop table pairs")


def _ceiling(number: str, divisor: int) -> str:
    return f"(({number} + {divisor - 1}) // {divisor})"


def _stop(con: duckdb.DuckDBPyConnection, shingle: int, units: str, most: str, found: str) -> NoReturn:
    """Raise QueryFailed where prefixes meet too often: a template that is said in thousands of variants."""
    commonest = con.execute(f"""
with
often as (
    select shingle, min(form_no) as form_no, count(*) as times
    from prefixes
    group by shingle
    qualify rank() over (order by count(*) desc) <= {_SHOWN}
)

select
    times,
    list_filter(
        list_transform(range(1, len(words) - {shingle - 2}), lambda place: words[place : place + {shingle - 1}]),
        lambda part: hash({", ".join(f"hash(part[{place + 1}])" for place in range(shingle))}) = shingle
    )[1] as part,
from (select times, shingle, string_split(form, ' ') as words from often inner join forms using (form_no))
order by times desc, part
limit {_SHOWN}
""").fetchall()
    shown = "; ".join(f"'{visible(' '.join(words))}' in {times:,} texts" for times, words in commonest)
    raise too_many(units, most, f"{found}; the commonest parts: {shown}", "--threshold")


MOST = 10_000_000
PAIRED = ("turn", "dialogue")

PAIRS = """
create table pairs_of_units (
    unit varchar,
    place_no integer,
    unit_no bigint,
    other_place_no integer,
    other_unit_no bigint,
    kind varchar,
    shared bigint,
    total bigint
)
"""

_MET_FORMS = """
select form_no, form_no as other_form_no, 1 as shared, 1 as total from forms
union all
select form_no, other_form_no, shared, total from near
"""

_COUNT = f"""
with
standing as (
    select form_holders.unit, form_holders.owner_no, form_no, place_no, units, place in (from against) as is_against
    from form_holders
    inner join owner_places using (owner_no)
    inner join places using (place_no)
),

counted as (
    select unit, form_no, is_against, sum(units) as units from standing group by unit, form_no, is_against
),

own as (
    select unit, owner_no, form_no, is_against, sum(units) as units
    from standing
    group by unit, owner_no, form_no, is_against
),

met as ({_MET_FORMS})

select
    coalesce((
        select sum(mine.units * others.units)
        from met
        inner join counted as mine on mine.form_no = met.form_no and not mine.is_against
        inner join counted as others
            on others.form_no = met.other_form_no and others.is_against and others.unit = mine.unit
        where mine.unit = $unit
    ), 0) - coalesce((
        select sum(mine.units * others.units)
        from met
        inner join own as mine on mine.form_no = met.form_no and not mine.is_against
        inner join own as others
            on others.form_no = met.other_form_no and others.is_against and others.owner_no = mine.owner_no
        where mine.unit = $unit
    ), 0)
"""

_INSERT = f"""
insert into pairs_of_units
select
    mine.unit,
    here.place_no,
    mine.unit_no,
    there.place_no,
    others.unit_no,
    case
        when met.form_no <> met.other_form_no then 'near'
        when mine.text_no = others.text_no then 'exact'
        else 'normalised'
    end,
    met.shared,
    met.total,
from ({_MET_FORMS}) as met
inner join units as mine on mine.form_no = met.form_no and mine.unit = $unit
inner join units as others
    on others.form_no = met.other_form_no and others.unit = mine.unit and others.owner_no <> mine.owner_no
inner join owner_places as here on here.owner_no = mine.owner_no
inner join owner_places as there on there.owner_no = others.owner_no
where here.place_no not in (select place_no from places semi join against using (place))
    and there.place_no in (select place_no from places semi join against using (place))
"""


def add_pairs(con: duckdb.DuckDBPyConnection, unit: str) -> None:
    """Add the pairs of a unit to the table of all, where its family is there; QueryFailed for too many of them."""
    ((made,),) = con.execute("select count(*) from pairs_of_units").fetchall()
    ((number,),) = con.execute(_COUNT, {"unit": unit}).fetchall()
    if made + number > MOST:
        raise QueryFailed(
            "there are too many pairs to write them all; nothing was written",
            expected=f"at most {MOST:,} pairs",
            found=f"{made + number:,} up to those of the unit {unit}",
            next_step="name fewer places with --against, raise --threshold, or name other units with --unit",
        )
    con.execute(_INSERT, {"unit": unit})


def write_pairs(con: duckdb.DuckDBPyConnection, output: Path, *, force: bool) -> int:
    """Write all pairs to a file, sorted by all columns; return their number. Raises what ``write_rows`` raises."""

    def turn_index(number: str) -> str:
        return f"if(pairs.unit = 'turn', {TURN_INDEX_OF.format(number)}, null)"

    query = f"""
select
    pairs.unit,
    here.place,
    mine.owner,
    {turn_index("pairs.unit_no")} as turn_index,
    there.place as other_place,
    others.owner as other_owner,
    {turn_index("pairs.other_unit_no")} as other_turn_index,
    pairs.kind,
    pairs.shared,
    pairs.total,
    pairs.shared / pairs.total as similarity,
from pairs_of_units as pairs
inner join places as here on here.place_no = pairs.place_no
inner join places as there on there.place_no = pairs.other_place_no
inner join owners as mine on mine.owner_no = {OWNER_OF.format("pairs.unit_no")}
inner join owners as others on others.owner_no = {OWNER_OF.format("pairs.other_unit_no")}
order by all
"""
    return write_rows(con, query, output, force=force)
