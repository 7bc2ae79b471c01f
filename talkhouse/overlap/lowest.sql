create table ${table} as
select
    ${key},
    unit,
    place_no,
    min(unit_no, 2) as lowest,
    count(*) as owners,
    sum(units)::bigint as units,
from ${holders}
inner join owner_places using (owner_no)
group by ${key}, unit, place_no
