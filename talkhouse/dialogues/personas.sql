select
    persona_uses.record_id,
    persona_uses.turn_index,
    persona_uses.persona_set,
    persona_uses.position,
    persona_uses.persona_id,
    persona_uses.speaker_id,
    speakers.name as speaker,
    personas.text,
    personas.image_file,
    personas.image_url,
    persona_uses.extra,
from main.persona_uses
left join main.personas using (persona_id)
left join main.speakers on speakers.speaker_id = persona_uses.speaker_id
where record_id in (select unnest($records::varchar[]))
order by turn_index nulls first, persona_set, position
