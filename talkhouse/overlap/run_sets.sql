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
group by runs;

create table set_runs as select set_no, unnest(runs) as run from run_sets;

create table set_forms as select set_no, unnest(form_nos) as form_no from run_sets;

create view asking as
select distinct set_no from set_forms semi join quotations on quotations.form_no = set_forms.form_no;
