-- A row for each unit, place that it stands in, and place that has a match; `same` before all others.
insert into rows
select
    units.unit,
    owner_places.place_no,
    units.unit_no,
    forms.tokens,
    forms.words,
    met.other_unit,
    met.other_place_no,
    met.other_unit_no,
    met.kind,
    met.shared,
    met.total,
    met.matches,
    forms.form_no in (from template_forms),
from units
inner join forms on forms.form_no = units.form_no
inner join met on met.owner_no = units.owner_no and met.text_no = units.text_no
inner join owner_places on owner_places.owner_no = units.owner_no
left join owner_places as stands
    on stands.owner_no = units.owner_no
    and stands.place_no = met.other_place_no
    and units.unit = met.other_unit
where stands.owner_no is null or stands.place_no = owner_places.place_no;

insert into rows
select
    units.unit,
    here.place_no,
    units.unit_no,
    forms.tokens,
    forms.words,
    units.unit,
    there.place_no,
    units.unit_no,
    'same',
    1,
    1,
    coalesce(met.matches, 0),
    forms.form_no in (from template_forms),
from units
inner join forms on forms.form_no = units.form_no
inner join owner_places as here on here.owner_no = units.owner_no
inner join owner_places as there on there.owner_no = units.owner_no and there.place_no <> here.place_no
left join met
    on met.owner_no = units.owner_no
    and met.text_no = units.text_no
    and met.other_unit = units.unit
    and met.other_place_no = there.place_no;
