-- Labelled utterances, in the order of files and turns.
-- grain: release, split, example_index
select
    records.release,
    records.split,
    row_number() over (
        partition by records.split
        order by records.source_file_id, annotations.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    annotations.turn_index,
from main.annotations
inner join main.records on records.record_id = annotations.record_id
where annotations.scheme = 'teatime.mood'
