insert into counts
select
    unit,
    place_no,
    count(*),
    count(distinct owner_no),
    count(distinct text_no),
    count(distinct form_no),
    count(*) filter (words < ${short}),
from units
inner join forms using (form_no)
inner join owner_places using (owner_no)
group by unit, place_no
