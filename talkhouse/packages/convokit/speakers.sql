select speaker_id, ${meta}
from (
    select *, false as is_missing
    from ${speakers}
    semi join ${turns} using (speaker_id)
    union all by name
    from ${missing}
)
left join (
    select
        speaker_id,
        list(struct_pack(persona_id, native_id, text, image_file, image_url, extra) order by persona_id) as personas
    from ${personas}
    group by speaker_id
) using (speaker_id)
order by speaker_id
