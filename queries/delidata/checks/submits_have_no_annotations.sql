-- A submit has no clean text and no annotations.
-- severity: warn
-- rule: DE-07
with
annotated as (
    select
        record_id,
        turn_index,
        string_agg(distinct scheme, ', ' order by scheme) as schemes,
    from main.annotations
    where scheme in ('delidata.type', 'delidata.target', 'delidata.additional', 'delidata.solution')
    group by record_id, turn_index
)

select
    records.record_id,
    turns.turn_index,
    'a SUBMIT with ' || concat_ws(', ', annotated.schemes, 'clean_text ' || (turns.extra ->> 'clean_text')) as detail,
from main.records
inner join main.turns on turns.dialogue_id = records.dialogue_id
left join annotated
    on annotated.record_id = records.record_id and annotated.turn_index = turns.turn_index
where records.corpus_id = 'delidata'
    and turns.kind = 'submit'
    and (annotated.schemes is not null or (turns.extra ->> 'clean_text') is not null)
order by records.record_id, turns.turn_index
