insert into candidates
select met.form_no, met.other_form_no, met.sizes
from (
    select distinct one.form_no, other.form_no as other_form_no, one.size + other.size as sizes
    from prefixes as one
    inner join prefixes as other
        on other.shingle = one.shingle
        and (one.size, one.form_no) < (other.size, other.form_no)
        and one.size * ${q} >= other.size * ${p}
        and 1 + least(one.size - one.place, other.size - other.place) >= ${needed}
    where one.form_no % ${parts} = ${part}
) as met
inner join sketches as mine on mine.form_no = met.form_no
inner join sketches as others on others.form_no = met.other_form_no
where (
    mine.shingles + others.shingles
    - bit_count(xor(mine.word_0, others.word_0)) - bit_count(xor(mine.word_1, others.word_1))
    - bit_count(xor(mine.word_2, others.word_2)) - bit_count(xor(mine.word_3, others.word_3))
) // 2 * ${both} >= met.sizes * ${p}
