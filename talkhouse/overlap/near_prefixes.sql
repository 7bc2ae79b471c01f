-- The first, rarest shingles of each text: two texts that are alike enough share one of them.
create table shingles as
select form_no, len(found) as size, unnest(found) as shingle
from (select form_no, ${runs} as found from forms where tokens >= ${shingle});

-- What stands in one text only can't be shared, and comes first in the order: it only counts.
create table common as
select form_no, size, shingle, frequency
from shingles
inner join (
    select shingle, count(*) as frequency from shingles group by shingle having count(*) > 1
) using (shingle);

drop table shingles;

create table prefixes as
select form_no, size, shingle, place
from (
    select
        form_no,
        size,
        shingle,
        size - count(*) over (partition by form_no) + row_number() over (
            partition by form_no order by frequency, shingle
        ) as place,
    from common
)
where place <= size - ${needed} + 1;
