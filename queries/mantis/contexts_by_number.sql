-- Contexts of the dialogues whose utterance_pos is not 1, 2, 3 ...: the authors' code picks turns by that number, wherever they stand.
-- grain: dialogue_id, context_index
--   context_index: 0-based position among the contexts of the dialogue.
--   turn_index: 0-based position of the response in its dialogue: of the turns that are picked, the last.
--   context: The other turns that are picked, in order.
--   response: The last one.
with
odd as (
    select distinct dialogue_id
    from main.turns
    where starts_with(dialogue_id, 'mantis:')
        and contains(extra::varchar, 'utterance_pos')
        and extra ->> 'utterance_pos' is not null
),

numbered as (
    select
        turns.dialogue_id,
        turns.turn_index,
        turns.text,
        turns.role = 'user' as is_user,
        coalesce(try_cast(turns.extra ->> 'utterance_pos' as bigint), turns.turn_index + 1) as position,
    from main.turns
    inner join odd on odd.dialogue_id = turns.dialogue_id
),

talks as (
    select
        dialogue_id,
        count(*) as turn_count,
        min(turn_index) filter (where is_user) as first_index,
    from numbered
    group by dialogue_id
),

asked as (
    select
        numbered.dialogue_id,
        numbered.turn_index,
        numbered.position,
        talks.turn_count,
    from numbered
    inner join talks on talks.dialogue_id = numbered.dialogue_id
    where numbered.is_user and numbered.turn_index > talks.first_index
),

stops as (
    select dialogue_id, min(turn_index) as stop_index
    from asked
    where position = turn_count
    group by dialogue_id
),

picked as (
    select
        asked.dialogue_id,
        asked.turn_index as asked_index,
        list(numbered.text order by numbered.turn_index) as texts,
        max(numbered.turn_index) as turn_index,
    from asked
    left join stops on stops.dialogue_id = asked.dialogue_id
    inner join numbered
        on numbered.dialogue_id = asked.dialogue_id
        and numbered.position between greatest(1, asked.position - 10) and asked.position + 1
    where asked.turn_index < coalesce(stops.stop_index, asked.turn_count)
    group by asked.dialogue_id, asked.turn_index
)

select
    dialogue_id,
    row_number() over (partition by dialogue_id order by asked_index) - 1 as context_index,
    turn_index,
    texts[1:len(texts) - 1] as context,
    texts[len(texts)] as response,
from picked
where len(texts) > 1
