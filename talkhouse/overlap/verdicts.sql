select corpus_id, task, release, split, count(*) as examples, ${counts}
from main.examples
group by corpus_id, task, release, split
order by corpus_id, task, release nulls first, split nulls first
