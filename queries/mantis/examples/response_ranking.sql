-- Every user turn but the first, up to one that is the last of its dialogue, gives an example: the turn after it is the response.
-- grain: release, split, example_index
with
positions as (
    select
        dialogue_id,
        turn_index,
        role,
        -- The authors' code uses the published number to find the last turn and to cut.
        coalesce((extra ->> 'utterance_pos')::integer, turn_index + 1) as position,
    from main.turns
    where starts_with(dialogue_id, 'mantis:')
),

talks as (
    select
        dialogue_id,
        count(*) as turn_count,
        min(turn_index) filter (where role = 'user') as first_index,
    from positions
    group by dialogue_id
),

asked as (
    select
        positions.dialogue_id,
        positions.turn_index,
        positions.position,
        talks.turn_count,
    from positions
    inner join talks on talks.dialogue_id = positions.dialogue_id
    where positions.role = 'user' and positions.turn_index > talks.first_index
),

stops as (
    select dialogue_id, min(turn_index) as stop_index
    from asked
    where position = turn_count
    group by dialogue_id
)

select
    null::varchar as release,
    conversations.split,
    row_number() over (
        partition by conversations.split
        order by conversations.record_index, conversations.subset desc, asked.turn_index
    ) - 1 as example_index,
    conversations.record_id,
    conversations.dialogue_id,
    asked.position as turn_index,
from mantis.conversations
inner join asked on asked.dialogue_id = conversations.dialogue_id
left join stops on stops.dialogue_id = asked.dialogue_id
where asked.turn_index < coalesce(stops.stop_index, asked.turn_count)
    and asked.position between 1 and asked.turn_count
order by conversations.split, example_index
