insert into met
select
    holders.owner_no,
    holders.text_no,
    other_unit,
    other_place_no,
    'contains',
    if(owner_of(first.unit_no) = holders.owner_no, second, first).unit_no,
    quotations.shared,
    quotations.total,
    0,
from quotations
inner join holders on holders.owner_no = quotations.owner_no and holders.form_no = quotations.form_no
inner join witnesses
    on witnesses.form_no = quotations.form_no
    and witnesses.unit = quotations.other_unit
    and witnesses.place_no = quotations.other_place_no
