insert into "?${kind}"
select min(before.corpus), before.id, min(coalesce(after.id, before.id || ${ending}))
from ${before} as before
left join ${after} as after on after.pair = before.pair
where before.id is distinct from after.id and (after.id is not null or before.id in (select id from ${after}))
group by before.id
