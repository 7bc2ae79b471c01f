-- The tasks of a warehouse by the publisher's release and split, with the standard split and the number of examples.
select
    examples.corpus_id || '.' || examples.task as task,
    examples.release,
    examples.split,
    min(records.standard_split) as standard_split,
    count(*) as examples,
from main.examples
inner join main.records using (record_id)
group by examples.corpus_id, examples.task, examples.release, examples.split
order by examples.corpus_id, examples.task, examples.release nulls first, examples.split
