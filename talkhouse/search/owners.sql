-- Whoever owns texts, with an MD5 of all that follows from them and their records: their rows have none in common.
create or replace table owners as
select
    kind,
    owner,
    bit_xor(md5_number(content)) as content,
from (
    select kind, owner, concat_ws(chr(31), turn_index, strlen(role), role, text) as content
    from (${texts}) as texts(kind, owner, turn_index, role, text)
    union all
    select kind, owner, concat_ws(chr(31), 'split', coalesce(strlen(split), -1), split, standard_split)
    from (select distinct * from (${owners}) as owners(kind, owner, split, standard_split))
)
where owner is not null
group by kind, owner
