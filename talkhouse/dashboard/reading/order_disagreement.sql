select dialogue_id, -avg(entropy) as place, min_by(turn_index, (-entropy, turn_index)) as turn_index
from ${agreement}
where turn_index is not null
group by dialogue_id
