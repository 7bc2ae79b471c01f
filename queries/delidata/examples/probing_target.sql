-- Messages of the type Probing, in the order of files and rows.
-- grain: release, split, example_index
select
    release,
    split,
    row_number() over (partition by release, split order by source_file_id, turn_index) - 1 as example_index,
    record_id,
    dialogue_id,
    turn_index,
from delidata.labelled_messages
where annotation_type = 'Probing'
order by release, split, example_index
