talks as (
    select
        dialogue_id,
        list(text order by turn_index) as texts,
        list(role order by turn_index) as roles,
    from main.turns
    where starts_with(dialogue_id, $dialogues)
    group by dialogue_id
)
