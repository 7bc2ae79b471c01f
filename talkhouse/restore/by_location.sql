-- A finding may point at something inside of a record: the longest pointer that leads there is the record's.
with locations as (
    select source_file_id, source_pointer as pointer, record_id, null as raw from main.records
    union all
    select source_file_id, pointer, null, raw from meta.quarantine
)
select record_id, raw
from locations
where starts_with($name, source_file_id)
    and ($name = source_file_id or starts_with($name, source_file_id || '#'))
    and starts_with($name[length(source_file_id) + 2:] || '/', pointer || '/')
order by length(source_file_id) desc, length(pointer) desc
limit 1
