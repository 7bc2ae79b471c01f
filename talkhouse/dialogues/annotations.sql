select * exclude (dialogue_id)
from main.annotations
where record_id in (select unnest($records::varchar[]))
order by turn_index nulls first, persona_set nulls first, persona_position, scheme, annotator_index, item_index
