insert into candidates
select distinct one.form_no, other.form_no as other_form_no, one.size + other.size as sizes
from prefixes as one
inner join prefixes as other
    on other.shingle = one.shingle
    and (one.size, one.form_no) < (other.size, other.form_no)
    and one.size * ${q} >= other.size * ${p}
    and 1 + least(one.size - one.place, other.size - other.place) >= ${needed}
where one.form_no % ${parts} = ${part}
