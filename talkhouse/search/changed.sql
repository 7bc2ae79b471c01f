-- Owners that are not in an index as they are now: they were there, are there, or both.
create or replace table changed as
select
    kind,
    owner,
    before.content is not null as was_there,
    now.content is not null as is_there,
from owners as now
full join ${index}.main.owners as before using (kind, owner)
where before.content is distinct from now.content
