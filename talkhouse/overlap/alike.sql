-- Exact and normalised matches of what an owner says, and how many units match so.
create table alike as
select
    holders.owner_no,
    holders.text_no,
    forms_there.unit as other_unit,
    forms_there.place_no as other_place_no,
    if(texts_there.text_no is null, 'normalised', 'exact') as kind,
    case
        when texts_there.text_no is not null then of_another(texts_there.lowest, holders.owner_no)
        else of_another(forms_there.lowest, holders.owner_no)
    end as other_unit_no,
    1 as shared,
    1 as total,
    forms_there.units - if(stands.owner_no is null, 0, own.units) as matches,
from holders
inner join form_lowest as forms_there
    on forms_there.form_no = holders.form_no
    and not (forms_there.owners = 1 and owner_of(forms_there.lowest[1]) = holders.owner_no)
inner join form_holders as own
    on own.owner_no = holders.owner_no and own.form_no = holders.form_no
left join text_lowest as texts_there
    on texts_there.text_no = holders.text_no
    and texts_there.unit = forms_there.unit
    and texts_there.place_no = forms_there.place_no
    and not (texts_there.owners = 1 and owner_of(texts_there.lowest[1]) = holders.owner_no)
left join owner_places as stands
    on stands.owner_no = holders.owner_no
    and stands.place_no = forms_there.place_no
    and holders.unit = forms_there.unit
