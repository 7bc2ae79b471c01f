with hits as materialized (
    select dialogue_id, turn_index from main.turns where ${condition}
),
counted as (
    select count(*) as turn_count, count(distinct dialogue_id) as dialogue_count from hits
),
shown as (
    select dialogue_id, turn_index from hits order by dialogue_id, turn_index limit $limit
)
select
    any_value(turn_count),
    any_value(dialogue_count),
    list(shown.dialogue_id order by dialogue_id, turn_index) filter (shown.dialogue_id is not null),
    list(shown.turn_index order by dialogue_id, turn_index) filter (shown.dialogue_id is not null),
from counted
left join shown on true
