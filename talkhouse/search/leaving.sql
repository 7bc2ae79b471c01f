create or replace table leaving as
select document
from ${index}.main.documents
inner join ${index}.main.groups using (group_no)
where (groups.kind, documents.owner) in (from gone)
