-- Turns with an intent, in the order of files, talks and turns.
-- grain: release, split, example_index
with
wanted as (
    select distinct record_id, dialogue_id, turn_index from main.annotations where scheme = 'service_talks.intent'
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.split
        order by records.source_file_id, records.record_index, wanted.turn_index
    ) - 1 as example_index,
    wanted.record_id,
    wanted.dialogue_id,
    wanted.turn_index,
from wanted
inner join main.records on records.record_id = wanted.record_id
