-- What an owner says, with the closest match in each place.
create table met as
select
    owner_no,
    text_no,
    other_unit,
    other_place_no,
    coalesce(alike.kind, 'near') as kind,
    coalesce(alike.other_unit_no, near_matches.other_unit_no) as other_unit_no,
    coalesce(alike.shared, near_matches.shared) as shared,
    coalesce(alike.total, near_matches.total) as total,
    coalesce(alike.matches, 0) + coalesce(near_matches.matches, 0) as matches,
from alike
full join near_matches using (owner_no, text_no, other_unit, other_place_no)
