with counted as (
    select corpus_id, dialogue_id, count(*) as turn_count from bi.turns group by corpus_id, dialogue_id
),

middles as (
    select corpus_id, quantile_disc(turn_count, 0.5) as middle from counted group by corpus_id
)

select corpus_id, dialogue_id, turn_count
from counted inner join middles using (corpus_id)
qualify row_number() over (partition by corpus_id order by abs(turn_count - middle), dialogue_id) = 1
