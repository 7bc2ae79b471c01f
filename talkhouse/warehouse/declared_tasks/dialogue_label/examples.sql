-- Labelled dialogues, in the order of files and records.
-- grain: release, split, example_index
with
$given

labelled as (
    select distinct record_id
    from given
    where turn_index is null and dialogue_id is not null and label is not null
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, records.record_index, records.record_id
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    null::integer as turn_index,
from labelled
inner join main.records on records.record_id = labelled.record_id
order by records.release, records.split, example_index
