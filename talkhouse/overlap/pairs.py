"""All pairs of units of two places, not the best alone: turns and dialogues that are exact, normalised or near."""

from pathlib import Path

import duckdb

from talkhouse.overlap.units import OWNER_OF, TURN_INDEX_OF
from talkhouse.query.rows_file import write_rows
from talkhouse.schema.errors import QueryFailed

MOST = 10_000_000
UNITS = ("turn", "dialogue")

TABLE = """
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
