-- Turns that are to be said, in the order of files, records and turns; of any role, those that have a turn before them.
-- grain: release, split, example_index
select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, records.record_index, records.record_id, turns.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    turns.turn_index,
from main.records
inner join main.turns on turns.dialogue_id = records.dialogue_id
where records.corpus_id = $corpus and records.split is not null and $is_wanted
order by records.release, records.split, example_index
