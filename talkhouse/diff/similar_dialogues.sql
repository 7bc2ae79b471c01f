with
met as (
    select distinct corpus, before.id as before, after.id as after
    from "?rare before" as before
    inner join "?rare after" as after using (corpus, said)
)

select
    met.before, met.after, after.number,
from met
inner join "?turns before" as before on before.id = met.before
inner join "?turns after" as after on after.id = met.after and after.said = before.said
group by met.before, met.after, before.size, after.size, before.number, after.number
having 2 * count(*) >= greatest(before.size, after.size)
order by
    count(*) / greatest(before.size, after.size) desc, met.before <> met.after, before.number, after.number
