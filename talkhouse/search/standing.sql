create or replace table standing as
select kind, row_number, owner, turn_index, role, place_no, split_part(owner, ':', 1) as corpus_id
from (${rows}) as rows(kind, row_number, owner, turn_index, role)
inner join owner_places using (kind, owner)
