select
    matches.unit,
    matches.place,
    matches.other_unit,
    matches.other_place,
    any_value(units.units) as units,
    count(*) filter (kind = 'same' and not is_phrase) as same,
    count(*) filter (kind = 'exact' and not is_phrase) as exact,
    count(*) filter (kind = 'normalised' and not is_phrase) as normalised,
    count(*) filter (kind = 'near' and not is_phrase) as near,
    count(*) filter (kind = 'contains' and not is_phrase) as contains,
    count(*) filter (is_phrase) as phrases,
    count(*) filter (not is_phrase) as affected,
    affected / any_value(units.units) as share,
from matches
inner join units on units.unit = matches.unit and units.place = matches.place
group by matches.unit, matches.place, matches.other_unit, matches.other_place
