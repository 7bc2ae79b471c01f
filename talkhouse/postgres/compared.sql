create or replace temp table there as
select *, row_number() over (partition by hash) as number from temp.received;

create or replace temp table here as
select hash, number, if(place is null, line, null) as line
from (
    select *, row_number() over (partition by hash) as number
    from (select ${hash} as hash, ${line} as line from ${source} where ${condition})
)
left join temp.there using (hash, number)
