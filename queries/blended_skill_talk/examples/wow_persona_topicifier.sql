-- Every entry of Wizard of Wikipedia's train and random (seen) splits, in the order of episodes, where there are personas and topics; turn_index is the number of the entry.
-- grain: release, split, example_index
select
    null::varchar as release,
    split,
    row_number() over (partition by split order by record_index, entry_index) - 1 as example_index,
    record_id,
    null::varchar as dialogue_id,
    entry_index as turn_index,
from blended_skill_talk.outside_entries
where subset = 'wizard_of_wikipedia'
    and release is distinct from 'topic_split'
    and exists (
        select 1
        from main.records
        where corpus_id = 'blended_skill_talk' and subset = 'topic_to_persona_list'
    )
    and exists (
        select 1
        from main.records
        where corpus_id = 'blended_skill_talk' and subset = 'persona_list'
    )
order by split, example_index
