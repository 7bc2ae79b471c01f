-- Which texts quote what stands in other places, by the share of their runs of tokens that stands there.
create table form_runs as
select form_no, len(found) as total, unnest(found) as run
from (select form_no, ${runs} as found from forms where tokens >= ${run});

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
anti join templates on templates.run = form_runs.run;

drop table form_runs;

create table quoting as
select form_no, any_value(total) as total
from shared_runs
group by form_no
having count(*) * ${q} >= any_value(total) * ${p};

-- Of each run in each place only two owners need be known: is there another than this one?
create table run_places as
select run, unit, place_no, min(owner_no) as lowest, max(owner_no) as highest
from shared_runs
inner join form_holders using (form_no)
inner join owner_places using (owner_no)
where run in (select run from shared_runs inner join quoting using (form_no))
group by run, unit, place_no;

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
having count(*) * ${q} >= any_value(total) * ${p};
