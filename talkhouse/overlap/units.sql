-- A text without a token is one, as it is; a joined form has tokens, so that the two never meet.
create table unit_rows as
select
    unit,
    owner_no,
    turn_index,
    text,
    if(tokens = 0, text, form) as form,
    greatest(tokens, 1) as tokens,
    if(tokens = 0, 1, ${words}) as words,
from (${rows})
where text <> '';

create table forms as
select row_number() over () as form_no, form, any_value(tokens) as tokens, any_value(words) as words
from unit_rows
group by form;

create table texts as
select row_number() over () as text_no, text, form_no
from (select text, any_value(form) as form from unit_rows group by text)
inner join forms using (form);

create table units as
select unit, owner_no, unit_no_of(owner_no, turn_index) as unit_no, text_no, form_no
from unit_rows
inner join texts using (text);

create table holders as
select unit, owner_no, text_no, any_value(form_no) as form_no, min(unit_no) as unit_no, count(*) as units
from units
group by unit, owner_no, text_no;

create table form_holders as
select unit, owner_no, form_no, min(unit_no) as unit_no, sum(units)::bigint as units
from holders
group by unit, owner_no, form_no;

drop table unit_rows;
