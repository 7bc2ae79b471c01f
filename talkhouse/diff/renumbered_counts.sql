select before.corpus, count(*)
from ${before} as before
inner join ${after} as after using (pair)
where before.id <> after.id
group by all
order by all
