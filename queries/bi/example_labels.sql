-- Each gold label of each example, for the tasks whose answers are labels of a closed set; tasks of ranking and writing have none and are in bi.splits.
-- grain: corpus_id, task, release, split, example_index, label_index
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count an example once that several of the publisher's releases have.
--   task: Task: the name of its view, which names its label column in its first lines.
--   subset: The published file or folder that the example's record belongs to.
--   label: The right answer, as the task view has it; an example without a label has no row.
--   label_meaning: What the label means; null where neither a scheme nor the task declares it.
--   label_index: 0-based position among the labels of the example; filter by 0 to count examples instead of labels.
--   label_count: Labels of the example; 1 where a task has one each.
with
-- The catalogue writes task_labels: a SELECT of each task view that names its label column, joined by `union all`;
-- labelled_tasks: their names; and task_meanings: labels that a task makes itself, with what they mean.
labelled as (
    select
        *,
        unnest(labels) as label,
        unnest(range(len(labels)))::integer as label_index,
    from task_labels
),

examples as (
    -- Most examples are of tasks of ranking: they need not be joined.
    select *
    from main.examples
    where task in (from labelled_tasks)
)

select
    labelled.corpus_id,
    labelled.task,
    examples.release,
    examples.split,
    records.standard_split,
    records.subset,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
    examples.example_index,
    examples.record_id,
    examples.dialogue_id,
    examples.turn_index,
    labelled.label,
    coalesce(labels.meaning, made.meaning) as label_meaning,
    labelled.label_index,
    labelled.label_count,
from labelled
inner join examples
    on examples.corpus_id = labelled.corpus_id
    and examples.task = labelled.task
    and examples.record_id = labelled.record_id
    and examples.split is not distinct from labelled.split
    and examples.example_index = labelled.example_index
-- Each example has its record; a left join, so that examples without labels, of which there are millions, go first.
left join main.records on records.record_id = examples.record_id
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
left join main.labels on labels.scheme = labelled.scheme and labels.label = labelled.label
left join (select * from task_meanings) as made
    on made.corpus_id = labelled.corpus_id and made.task = labelled.task and made.label = labelled.label
