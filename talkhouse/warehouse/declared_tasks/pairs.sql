rated as (
    select distinct record_id, turn_index, position, is_gold
    from main.candidates
    where candidate_set = 'completion'
        and starts_with(record_id, $records)
        and turn_index is not null
        and text_id is not null
        and is_gold is not null
),

pairs as (
    select
        chosen.record_id,
        chosen.turn_index,
        chosen.position as chosen_position,
        rejected.position as rejected_position,
        -- Null of the only pair of a turn.
        case
            when count(*) over (partition by chosen.record_id, chosen.turn_index) > 1
            then row_number() over (
                partition by chosen.record_id, chosen.turn_index order by chosen.position, rejected.position
            ) - 1
        end as item_index,
    from rated as chosen
    inner join rated as rejected
        on rejected.record_id = chosen.record_id
        and rejected.turn_index = chosen.turn_index
        and not rejected.is_gold
    where chosen.is_gold
)
