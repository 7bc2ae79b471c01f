-- Records with a chosen and a rejected answer, in the order of files and records.
-- grain: release, split, example_index
with
answered as (
    select record_id, turn_index
    from main.candidates
    where candidate_set = 'completion'
        and starts_with(record_id, $records)
        and turn_index is not null
        and text_id is not null
        and position in (0, 1)
    group by record_id, turn_index
    having count(distinct position) = 2
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, records.record_index, records.record_id, answered.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    answered.turn_index,
from answered
inner join main.records on records.record_id = answered.record_id
where records.split is not null
order by records.release, records.split, example_index
