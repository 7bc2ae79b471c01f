select dialogue_id, ${sign}count(*) as place, null::integer as turn_index
from main.turns semi join chosen using (dialogue_id)
group by dialogue_id
