select
    pairs.unit,
    here.place,
    mine.owner,
    if(pairs.unit = 'turn', turn_index_of(pairs.unit_no), null) as turn_index,
    there.place as other_place,
    others.owner as other_owner,
    if(pairs.unit = 'turn', turn_index_of(pairs.other_unit_no), null) as other_turn_index,
    pairs.kind,
    pairs.shared,
    pairs.total,
    pairs.shared / pairs.total as similarity,
from pairs_of_units as pairs
inner join places as here on here.place_no = pairs.place_no
inner join places as there on there.place_no = pairs.other_place_no
inner join owners as mine on mine.owner_no = owner_of(pairs.unit_no)
inner join owners as others on others.owner_no = owner_of(pairs.other_unit_no)
order by all
