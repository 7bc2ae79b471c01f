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

-- How far two sets are apart at least, at a glance: each shingle turns one of 256 bits over, so that as many bits
-- differ at most as shingles stand in one of the two alone.
create table sketches as
select
    form_no,
    count(*) as shingles,
    coalesce(bit_xor(bit) filter (where word = 0), 0::ubigint) as word_0,
    coalesce(bit_xor(bit) filter (where word = 1), 0::ubigint) as word_1,
    coalesce(bit_xor(bit) filter (where word = 2), 0::ubigint) as word_2,
    coalesce(bit_xor(bit) filter (where word = 3), 0::ubigint) as word_3,
from (select form_no, (shingle >> 6) & 3 as word, 1::ubigint << (shingle & 63) as bit from common)
group by form_no;
