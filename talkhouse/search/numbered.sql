create or replace table numbered as
select
    (row_number() over (order by list_position([${ranks}], kind), owner, turn_index) - 1 + ${first})::integer as document,
    group_no,
    kind,
    row_number,
    owner,
    turn_index,
from standing
inner join group_keys using (kind, corpus_id, role, place_no)
