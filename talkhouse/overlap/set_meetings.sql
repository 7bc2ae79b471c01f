select coalesce(sum(asked * held), 0), arg_max(held, (asked * held, form)), arg_max(form, (asked * held, form))
from (
    select run, count(asking.set_no) as asked, count(*) as held, min(set_runs.set_no) as set_no
    from set_runs left join asking using (set_no) group by run
)
left join (select set_no, min(form) as form from set_forms inner join forms using (form_no) group by set_no)
    using (set_no)
