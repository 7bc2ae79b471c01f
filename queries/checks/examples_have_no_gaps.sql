-- The examples of a task are numbered 0, 1, 2 ... within publisher's release and split.
-- severity: error
-- remedy: This is a mistake in the examples of the task: please report it.
select
    corpus_id,
    task,
    release,
    split,
    count(*) as example_count,
    max(example_index) as last_index,
from main.examples
group by corpus_id, task, release, split
having min(example_index) <> 0 or max(example_index) <> count(*) - 1
