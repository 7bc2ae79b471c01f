with used as (
    select
        persona_id,
        min_by(struct_pack(record_id, dialogue_id, turn_index), (record_id, turn_index)) as first,
    from main.persona_uses
    where persona_id in (select unnest($owners::varchar[]))
    group by persona_id
)
select
    personas.persona_id as owner, null::integer as owner_turn, first.dialogue_id, first.turn_index,
    first.record_id, null as role, speakers.name as speaker, personas.text,
from main.personas
left join used using (persona_id)
left join main.speakers on speakers.speaker_id = personas.speaker_id
where personas.persona_id in (select unnest($owners::varchar[]))
