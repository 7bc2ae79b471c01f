given as (
    -- A record's own labels. Both parts take record_id from one table: Sail can't join columns with two comments.
    select
        records.record_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.annotator_index,
        annotations.item_index,
        annotations.record_id as labelled_by,
        coalesce(annotations.label, annotations.value::varchar) as label,
        annotations.start_index,
        annotations.end_index,
    from main.annotations
    inner join main.records on records.record_id = annotations.record_id
    where annotations.scheme = $scheme and records.split is not null
    union all
    -- Those of files of labels, which have no split: they are of every record of the dialogue.
    select
        records.record_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.annotator_index,
        annotations.item_index,
        annotations.record_id as labelled_by,
        coalesce(annotations.label, annotations.value::varchar) as label,
        annotations.start_index,
        annotations.end_index,
    from main.annotations
    inner join main.records as label_records on label_records.record_id = annotations.record_id
    inner join main.records on records.dialogue_id = annotations.dialogue_id
    where annotations.scheme = $scheme and label_records.split is null and records.split is not null
),
