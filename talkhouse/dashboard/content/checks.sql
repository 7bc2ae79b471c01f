select
    case when offending = 0 then 'passes' when severity = 'error' then 'fails' else 'warns' end as result,
    condition,
    offending,
    check_name,
from meta.checks
order by offending = 0, severity, check_name
