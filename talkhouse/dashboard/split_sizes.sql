select release, split, count(*) as size
from main.examples
where corpus_id = $corpus and task = $task
group by all
order by release nulls last, split nulls last
