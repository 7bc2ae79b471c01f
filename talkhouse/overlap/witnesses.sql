create table witnesses as
select set_forms.form_no, set_best.unit, set_best.place_no, set_best.first, set_best.second
from set_forms
semi join quotations on quotations.form_no = set_forms.form_no
inner join set_best on set_best.form_no = set_forms.set_no
