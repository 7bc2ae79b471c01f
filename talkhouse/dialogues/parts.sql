from main.parts
where dialogue_id in (${ids})
order by turn_index, part_index
