-- Pairs of an answer that is one of the best and one that is not, in the order of files, records and answers.
-- grain: release, split, example_index
with
$pairs

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by
            records.source_file_id,
            records.record_index,
            records.record_id,
            pairs.turn_index,
            pairs.chosen_position,
            pairs.rejected_position
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    pairs.turn_index,
    pairs.item_index,
from pairs
inner join main.records on records.record_id = pairs.record_id
where records.split is not null
order by records.release, records.split, example_index
