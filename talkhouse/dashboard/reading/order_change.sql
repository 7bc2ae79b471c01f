select dialogue_id, -avg(change) as place, min_by(turn_index, (-change, turn_index)) as turn_index
from ${changes}
group by dialogue_id
