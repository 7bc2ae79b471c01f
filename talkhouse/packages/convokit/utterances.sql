-- The timestamp is seconds since 1970, or the turn's position; ConvoKit compares them, and leaves open what they are.
select
    ${id} as id,
    dialogue_id as conversation_id,
    text,
    ${speaker} as speaker,
    ${meta} as meta,
    ${reply_to} as "reply-to",
    case
        when not has_times then turn_index::varchar
        when epoch_us(said_at) % 1000000 = 0 then (epoch_us(said_at) // 1000000)::varchar
        else (epoch_us(said_at) / 1000000)::varchar
    end::json as timestamp,
    []::varchar[] as vectors
from (
    -- ConvoKit sorts by times only where all turns of a conversation have one.
    select
        *,
        lag(turn_index) over (partition by dialogue_id order by turn_index) as previous_turn,
        bool_and(said_at is not null and isfinite(said_at)) over (partition by dialogue_id) as has_times
        ${is_tree}
    from ${turns}
)
${joined}
order by dialogue_key, turn_index
