create table set_holders as
select unit, owner_no, set_no, min(unit_no) as unit_no, sum(units)::bigint as units
from set_forms
inner join form_holders using (form_no)
group by unit, owner_no, set_no
