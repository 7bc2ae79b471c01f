-- Every cached entry, in the order of episodes; the publisher's release is the variant, turn_index the number of the entry.
-- grain: release, split, example_index
select
    release,
    split,
    row_number() over (partition by release, split order by record_index, entry_index) - 1 as example_index,
    record_id,
    null::varchar as dialogue_id,
    entry_index as turn_index,
from blended_skill_talk.outside_entries
where subset = 'ed_persona_topicifier'
order by release, split, example_index
