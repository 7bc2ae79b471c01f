-- Turns with labelled spans, in the order of files, records and turns.
-- grain: release, split, example_index
with
$given

labelled as (
    select distinct record_id, turn_index
    from given
    where turn_index is not null and start_index is not null and end_index is not null
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, records.record_index, records.record_id, labelled.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    labelled.turn_index,
from labelled
inner join main.records on records.record_id = labelled.record_id
order by records.release, records.split, example_index
