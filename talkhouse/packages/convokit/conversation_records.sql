(
    select
        dialogue_id,
        list(distinct split order by split) filter (where split is not null) as splits,
        list(distinct standard_split order by standard_split) filter (where standard_split is not null)
            as standard_splits,
        list(distinct release order by release) filter (where release is not null) as releases,
        list(struct_pack(
            record_id, release, subset, split, standard_split, record_index, main_speaker_id
        ) order by record_id) as records,
        list(struct_pack(record_id, native_id, source_file_id, source_pointer) order by record_id) as sources
    from ${records}
    group by dialogue_id
)
