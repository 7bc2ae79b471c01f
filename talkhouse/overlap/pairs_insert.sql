insert into pairs_of_units
select
    mine.unit,
    here.place_no,
    mine.unit_no,
    there.place_no,
    others.unit_no,
    case
        when met.form_no <> met.other_form_no then 'near'
        when mine.text_no = others.text_no then 'exact'
        else 'normalised'
    end,
    met.shared,
    met.total,
from met_forms as met
inner join units as mine on mine.form_no = met.form_no and mine.unit = $unit
inner join units as others
    on others.form_no = met.other_form_no and others.unit = mine.unit and others.owner_no <> mine.owner_no
inner join owner_places as here on here.owner_no = mine.owner_no
inner join owner_places as there on there.owner_no = others.owner_no
where here.place_no not in (select place_no from places semi join against using (place))
    and there.place_no in (select place_no from places semi join against using (place))
