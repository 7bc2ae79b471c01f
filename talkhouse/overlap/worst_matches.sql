select owner, turn_index, other_owner, other_turn_index, kind, shared, total
from main.matches
where
    unit = $unit and place = $place and other_unit = $other_unit and other_place = $other_place
    and not is_phrase and kind <> 'same' and ($kind is null or kind = $kind)
qualify row_number() over (partition by other_owner, other_turn_index order by ${ranks}) = 1
order by ${ranks}
limit ${most}
