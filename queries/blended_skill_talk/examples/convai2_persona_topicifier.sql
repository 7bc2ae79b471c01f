-- Every entry of ConvAI2, in the order of episodes, where there are topics to choose from; test is valid again, as ParlAI has it. turn_index is the number of the entry.
-- grain: release, split, example_index
with
entries as (
    select split, record_index, entry_index, record_id
    from blended_skill_talk.outside_entries
    where subset = 'convai2'
    union all
    -- ConvAI2's test set is hidden: ParlAI uses the validation set instead.
    select 'test' as split, record_index, entry_index, record_id
    from blended_skill_talk.outside_entries
    where subset = 'convai2' and split = 'valid'
)

select
    null::varchar as release,
    split,
    row_number() over (partition by split order by record_index, entry_index) - 1 as example_index,
    record_id,
    null::varchar as dialogue_id,
    entry_index as turn_index,
from entries
where exists (
    select 1
    from main.records
    where corpus_id = 'blended_skill_talk' and subset = 'topic_to_persona_list'
)
order by split, example_index
