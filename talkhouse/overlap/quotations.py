"""What a text quotes: which share of its runs of tokens stands in units of other owners, and where most of them do."""

from fractions import Fraction

import duckdb

from talkhouse.overlap.units import OWNER_OF, runs, too_many
from talkhouse.visible import visible


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


RUN = 8
"""Tokens of a run."""
_SHOWN = 100
"""Letters of the commonest text."""


MOST_MEETINGS = 1_000_000_000
"""Pairs of sets that a run may be in."""


def create_quotations(con: duckdb.DuckDBPyConnection, least: Fraction, units: str) -> None:
    """Add to ``met`` the ``contains`` matches of what has no closer match in a place.

    The search for the best unit goes over sets of runs that several owners have, not over texts: a sentence that a
    million texts have, each beside words of its own, is one set. Raises QueryFailed for too many pairs of sets.
    """
    p, q = least.numerator, least.denominator
    con.execute(f"""
create table form_runs as
select form_no, len(found) as total, unnest(found) as run
from (select form_no, {runs("form", RUN)} as found from forms where tokens >= {RUN})
""")
    con.execute("""
create table shared_runs as
with
form_owners as (
    select form_no, min(owner_no) as lowest, max(owner_no) as highest from form_holders group by form_no
)

select form_no, total, run
from form_runs
semi join (
    select run
    from form_runs
    inner join form_owners using (form_no)
    group by run
    having min(lowest) < max(highest)
) as several on several.run = form_runs.run
""")
    con.execute("drop table form_runs")
    con.execute(f"""
create table quoting as
select form_no, any_value(total) as total
from shared_runs
group by form_no
having count(*) * {q} >= any_value(total) * {p}
""")
    # Of each run in each place only two owners need be known: is there another than this one?
    con.execute("""
create table run_places as
select run, unit, place_no, min(owner_no) as lowest, max(owner_no) as highest
from shared_runs
inner join form_holders using (form_no)
inner join owner_places using (owner_no)
where run in (select run from shared_runs inner join quoting using (form_no))
group by run, unit, place_no
""")
    con.execute(f"""
create table quotations as
select owner_no, form_no, other_unit, other_place_no, count(*) as shared, any_value(total) as total
from (
    select
        form_holders.owner_no,
        quoting.form_no,
        quoting.total,
        run_places.unit as other_unit,
        run_places.place_no as other_place_no,
    from quoting
    inner join form_holders using (form_no)
    inner join shared_runs using (form_no)
    inner join run_places
        on run_places.run = shared_runs.run
        and not (run_places.lowest = form_holders.owner_no and run_places.highest = form_holders.owner_no)
) as found
anti join (
    select distinct owner_no, form_no, other_unit, other_place_no from met inner join texts using (text_no)
) as closer using (owner_no, form_no, other_unit, other_place_no)
group by owner_no, form_no, other_unit, other_place_no
having count(*) * {q} >= any_value(total) * {p}
""")
    _find_witnesses(con, units)
    con.execute(f"""
insert into met
select
    holders.owner_no,
    holders.text_no,
    other_unit,
    other_place_no,
    'contains',
    if({OWNER_OF.format("first.unit_no")} = holders.owner_no, second, first).unit_no,
    quotations.shared,
    quotations.total,
    0,
from quotations
inner join holders on holders.owner_no = quotations.owner_no and holders.form_no = quotations.form_no
inner join witnesses
    on witnesses.form_no = quotations.form_no
    and witnesses.unit = quotations.other_unit
    and witnesses.place_no = quotations.other_place_no
""")


def _find_witnesses(con: duckdb.DuckDBPyConnection, units: str) -> None:
    """Create ``witnesses``: the units with most of the runs of each form that quotes."""
    con.execute("""
create table run_sets as
with
wanted as (
    select distinct run
    from shared_runs
    semi join quotations on quotations.form_no = shared_runs.form_no
)

select row_number() over () as set_no, runs, list(form_no) as form_nos
from (
    select form_no, list(run order by run) as runs from shared_runs semi join wanted using (run) group by form_no
)
group by runs
""")
    con.execute("create table set_runs as select set_no, unnest(runs) as run from run_sets")
    con.execute("create table set_forms as select set_no, unnest(form_nos) as form_no from run_sets")
    con.execute("""
create view asking as
select distinct set_no from set_forms semi join quotations on quotations.form_no = set_forms.form_no
""")
    ((meetings, often, form),) = con.execute("""
select coalesce(sum(asked * held), 0), arg_max(held, (asked * held, form)), arg_max(form, (asked * held, form))
from (
    select run, count(asking.set_no) as asked, count(*) as held, min(set_runs.set_no) as set_no
    from set_runs left join asking using (set_no) group by run
)
left join (select set_no, min(form) as form from set_forms inner join forms using (form_no) group by set_no)
    using (set_no)
""").fetchall()
    if meetings > MOST_MEETINGS:
        found = f"{meetings:,}; a part of '{visible(form[:_SHOWN])}' in {often:,} texts or more"
        raise too_many(units, f"at most {MOST_MEETINGS:,} pairs that quote a run of {RUN} tokens", found, "--contains")
    con.execute("""
create table set_holders as
select unit, owner_no, set_no, min(unit_no) as unit_no, sum(units)::bigint as units
from set_forms
inner join form_holders using (form_no)
group by unit, owner_no, set_no
""")
    lowest(con, "set_lowest", "set_no", "set_holders")
    con.execute("""
create table set_pairs as
select mine.set_no, others.set_no as other_set_no, count(*) as shared
from set_runs as mine
inner join set_runs as others using (run)
where mine.set_no in (from asking)
group by mine.set_no, others.set_no
""")
    con.execute("create view set_lowest_met as select * rename (set_no as met_no) from set_lowest")
    best(
        con,
        "set_best",
        "select set_no as form_no, other_set_no as met_no, shared, shared as total, shared as score from set_pairs",
        "met_no",
        "set_lowest_met",
    )
    con.execute("""
create table witnesses as
select set_forms.form_no, set_best.unit, set_best.place_no, set_best.first, set_best.second
from set_forms
semi join quotations on quotations.form_no = set_forms.form_no
inner join set_best on set_best.form_no = set_forms.set_no
""")
