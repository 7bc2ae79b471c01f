-- Every user turn but the first, up to one that is the last of its dialogue, gives an example: the turn after it is the response.
-- grain: release, split, example_index
with
talks as (
    select
        dialogue_id,
        count(*) as turn_count,
        min(turn_index) filter (where role = 'user') as first_index,
        -- Their contexts are those of mantis.contexts_by_number.
        count_if(contains(extra::varchar, 'utterance_pos') and extra ->> 'utterance_pos' is not null) > 0 as is_odd,
    from main.turns
    where starts_with(dialogue_id, 'mantis:')
    group by dialogue_id
),

contexts as (
    select
        turns.dialogue_id,
        turns.turn_index as context_index,
        turns.turn_index + 1 as turn_index,
    from main.turns
    inner join talks on talks.dialogue_id = turns.dialogue_id
    where turns.role = 'user'
        and turns.turn_index > talks.first_index
        and turns.turn_index + 1 < talks.turn_count
        and not talks.is_odd
    union all
    select dialogue_id, context_index, turn_index
    from mantis.contexts_by_number
)

select
    null::varchar as release,
    conversations.split,
    row_number() over (
        partition by conversations.split
        order by conversations.record_index, conversations.subset desc, contexts.context_index
    ) - 1 as example_index,
    conversations.record_id,
    conversations.dialogue_id,
    contexts.turn_index,
from mantis.conversations
inner join contexts on contexts.dialogue_id = conversations.dialogue_id
order by conversations.split, example_index
