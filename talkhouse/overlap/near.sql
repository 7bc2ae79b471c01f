drop table prefixes;

drop table sketches;

create table lists as
select form_no, any_value(size) as size, list(shingle) as common from common group by form_no;

drop table common;

create table pairs as
select form_no, other_form_no, shared, size + other_size - shared as total
from (
    select
        candidates.form_no,
        candidates.other_form_no,
        one.size,
        other.size as other_size,
        len(list_intersect(one.common, other.common)) as shared,
    from candidates
    inner join lists as one on one.form_no = candidates.form_no
    inner join lists as other on other.form_no = candidates.other_form_no
)
where total * ${p} <= shared * ${q};

drop table candidates;

drop table lists;

create table near as
from pairs
union all
select other_form_no, form_no, shared, total from pairs;

drop table pairs;

create view met_forms as
select form_no, form_no as other_form_no, 1 as shared, 1 as total from forms
union all
select form_no, other_form_no, shared, total from near;
