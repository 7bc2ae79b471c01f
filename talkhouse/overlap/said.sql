create table said as
select owners.owner_no, turns.turn_index, turns.text
from ${warehouse}.main.turns
inner join owners on owners.thing = 'dialogue' and owners.owner = turns.dialogue_id
