create table standing as
select *, split_part(owner, ':', 1) as corpus_id
from (${rows}) as rows(kind, row_number, owner, turn_index, role, place_no)
