-- Dialogues that have turns, in ranges of about as many rows: turns and labels.
with sizes as (
    select dialogue_key, count(*) as row_count, count_if(is_turn) as turn_count
    from (
        select dialogue_key, true as is_turn from ${turns}
        union all
        select dialogue_key, false from ${annotations}
    )
    group by dialogue_key
    having turn_count > 0
)
select min(dialogue_key), max(dialogue_key), sum(turn_count)::bigint
from (select *, sum(row_count) over (order by dialogue_key) // ${part_rows} as part from sizes)
group by part
order by part
