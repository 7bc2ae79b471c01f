"""Of what is met in each place, the best and the best of another owner: nobody's own repetition counts.

Two are enough for every owner: whoever has the one is not the owner of the other.
"""

import duckdb

from talkhouse.overlap.units import OWNER_OF


def lowest(con: duckdb.DuckDBPyConnection, table: str, key: str, holders: str) -> None:
    """Create a table of what a key is held by in each place: the lowest unit of each of the two lowest owners."""
    con.execute(f"""
create table {table} as
select
    {key},
    unit,
    place_no,
    min(unit_no, 2) as lowest,
    count(*) as owners,
    sum(units)::bigint as units,
from {holders}
inner join owner_places using (owner_no)
group by {key}, unit, place_no
""")


def best(con: duckdb.DuckDBPyConnection, table: str, pairs: str, key: str, lowest_table: str) -> None:
    """Create a table of the best that each form meets in each place, and of the best of another owner than that.

    ``pairs`` has form_no, the key that it meets, shared, total, and score: higher is better, then the lower unit.
    """
    con.execute(f"""
create table {table} as
with
met as (
    select pairs.form_no, unit, place_no, shared, total, score, lowest, units
    from ({pairs}) as pairs
    inner join {lowest_table} using ({key})
),

ranked as (
    select
        form_no,
        unit,
        place_no,
        struct_pack(behind := -score, unit_no := unnest(lowest), shared := shared, total := total) as choice,
    from met
),

first as (
    select form_no, unit, place_no, min(choice) as first from ranked group by form_no, unit, place_no
),

second as (
    select form_no, unit, place_no, min(choice) as second
    from ranked
    inner join first using (form_no, unit, place_no)
    where {OWNER_OF.format("choice.unit_no")} <> {OWNER_OF.format("first.first.unit_no")}
    group by form_no, unit, place_no
),

counts as (
    select form_no, unit, place_no, sum(units)::bigint as units from met group by form_no, unit, place_no
)

select form_no, unit, place_no, first, second, units
from first
inner join counts using (form_no, unit, place_no)
left join second using (form_no, unit, place_no)
""")
