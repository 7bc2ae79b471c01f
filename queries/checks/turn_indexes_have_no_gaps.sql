-- The turns of a dialogue are numbered 0, 1, 2 ... without a gap.
-- severity: error
-- scope: file
-- remedy: This is a mistake in the corpus's reader: please report it.
select
    dialogue_id,
    count(*) as turn_count,
    min(turn_index) as first_index,
    max(turn_index) as last_index,
from main.turns
group by dialogue_id
having min(turn_index) <> 0 or max(turn_index) <> count(*) - 1
