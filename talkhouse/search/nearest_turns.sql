select
    group_no,
    dialogue_id as owner,
    turn_index,
    round(array_cosine_similarity(vector, $vector::float[${dimensions}])::double, 6) as score
from main.vectors
where group_no in (select unnest($groups::integer[])) and ${others} and isfinite(score)
order by score desc, dialogue_id, turn_index
limit $limit offset $offset
