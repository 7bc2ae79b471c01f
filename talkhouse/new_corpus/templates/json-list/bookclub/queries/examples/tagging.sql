-- Tagged utterances, in the order of files, talks and turns; a file that repeats another makes none.
-- grain: release, split, example_index
with
tagged as (
    select distinct record_id, dialogue_id, turn_index from main.annotations where scheme = 'bookclub.tag'
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.split
        order by records.source_file_id, records.record_index, tagged.turn_index
    ) - 1 as example_index,
    tagged.record_id,
    tagged.dialogue_id,
    tagged.turn_index,
from tagged
inner join main.records on records.record_id = tagged.record_id
where records.extra ->> '$.repeats' is null
