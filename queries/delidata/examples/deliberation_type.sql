-- Every message, in the order of files and rows; SUBMIT and INITIAL are not messages.
-- grain: release, split, example_index
select
    release,
    split,
    row_number() over (partition by release, split order by source_file_id, turn_index) - 1 as example_index,
    record_id,
    dialogue_id,
    turn_index,
from delidata.labelled_messages
order by release, split, example_index
