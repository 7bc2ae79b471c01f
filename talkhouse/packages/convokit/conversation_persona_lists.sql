(
    select
        dialogue_id,
        list(struct_pack(
            record_id, turn_index, persona_set, speaker_id, persona_ids, texts
        ) order by record_id, turn_index, persona_set, speaker_id) as persona_lists
    from (
        select
            dialogue_id, record_id, turn_index, persona_set, speaker_id,
            list(persona_id order by position) as persona_ids,
            list(text order by position) as texts
        from ${persona_uses} as uses
        left join (select persona_id, text from ${personas}) using (persona_id)
        group by dialogue_id, record_id, turn_index, persona_set, speaker_id
    )
    group by dialogue_id
)
