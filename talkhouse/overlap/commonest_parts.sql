with
often as (
    select shingle, min(form_no) as form_no, count(*) as times
    from prefixes
    where shingle in (select common.shingle from common)
    group by shingle
    qualify rank() over (order by count(*) desc) <= ${most}
)

select
    times,
    list_filter(
        list_transform(range(1, len(words) - ${inner}), lambda place: words[place : place + ${last}]),
        lambda part: hash(${hashes}) = shingle
    )[1] as part,
from (select times, shingle, string_split(form, ' ') as words from often inner join forms using (form_no))
order by times desc, part
limit ${most}
