-- The span of a label, or of a part, lies inside the text of its turn.
-- severity: warn
-- scope: file
-- remedy: Look at the turn: the publisher counted otherwise, or miscounted; a reader converts what is counted in bytes or UTF-16.
with
spans as (
    select 'annotations' as place, dialogue_id, turn_index, record_id, start_index, end_index
    from main.annotations
    where start_index is not null or end_index is not null
    union all
    select 'parts', dialogue_id, turn_index, null, start_index, end_index
    from main.parts
    where start_index is not null or end_index is not null
)

select
    spans.dialogue_id,
    spans.turn_index,
    spans.record_id,
    spans.start_index,
    spans.end_index,
    coalesce(spans.dialogue_id, spans.record_id) || ', turn ' || coalesce(spans.turn_index::varchar, 'none')
    || ': a span in ' || spans.place || ' from ' || coalesce(spans.start_index::varchar, 'nowhere') || ' to '
    || coalesce(spans.end_index::varchar, 'nowhere') || ' of ' || coalesce(length(turns.text)::varchar, 'no')
    || ' characters' as detail,
from spans
left join main.turns on turns.dialogue_id = spans.dialogue_id and turns.turn_index = spans.turn_index
where not coalesce(
    spans.start_index >= 0 and spans.end_index >= spans.start_index and spans.end_index <= length(turns.text), false
)
