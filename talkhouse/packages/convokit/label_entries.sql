(
    select ${columns}
    from (
        select
            ${key}, scheme, ${place},
            any_value(persona_id) as persona_id,
            list_sort(list(struct_pack(
                annotator_index, item_index, label, value, annotator_id, start_index, end_index, extra
            ))) as items,
            count(annotator_id) > 0 as has_annotators,
            count(value) > 0 as has_values,
            max(item_index) > 0 as has_items
        from ${annotations}
        where scheme in (${names})
        group by all
    )
    group by ${key}
)
