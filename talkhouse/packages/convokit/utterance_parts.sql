(
    select
        dialogue_id,
        turn_index,
        list(struct_pack(
            part_index, field, kind, start_index, end_index, name, call_id, arguments, uri, mime_type, text, extra
        ) order by part_index) as parts
    from ${parts}
    group by all
)
