-- The row numbers first, as in a search, so that of all candidate texts only those of this record are read.
with listed as materialized (
    select * exclude (dialogue_id) from main.candidates where record_id in (select unnest($records::varchar[]))
),
wanted as (
    select rowid as row_number from main.texts where text_id in (select text_id from listed)
),
said as (
    select text_id, text from main.texts where rowid in (select row_number from wanted)
)
select
    listed.* exclude (extra),
    coalesce(said.text, personas.text) as text,
    personas.image_file,
    listed.extra,
from listed
left join said using (text_id)
left join main.personas using (persona_id)
order by turn_index nulls first, candidate_set, position, item_index
