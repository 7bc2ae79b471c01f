-- PostgreSQL's bigint has the same 64 bits as the hash.
insert into temp.received
select place, if(signed < 0, signed::hugeint + (1::hugeint << 64), signed)::ubigint
from (
    select split_part(row, chr(9), 1) as place, split_part(row, chr(9), 2)::bigint as signed
    from (select unnest(string_split($1, chr(10))) as row)
    where row <> ''
)
