with wanted as (
    select rowid as row_number from main.texts where text_id in (select unnest($owners::varchar[]))
),
offered as (
    select
        text_id,
        min_by(struct_pack(record_id, dialogue_id, turn_index), (not coalesce(is_gold, false), record_id, turn_index))
            as first,
    from main.candidates
    where text_id in (select unnest($owners::varchar[]))
    group by text_id
)
select
    texts.text_id as owner, null::integer as owner_turn, first.dialogue_id, first.turn_index,
    first.record_id, null as role, null as speaker, texts.text,
from main.texts
left join offered using (text_id)
where texts.rowid in (select row_number from wanted)
