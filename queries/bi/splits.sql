-- Each split of each task with its size; what no task uses is in bi.subsets.
-- grain: corpus_id, task, release, split
-- terms: none
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   example_count: Examples of the task in the split.
--   default_example_count: Of these, examples from the default publications of their dialogues: add these up to count an example once that several of the publisher's releases have.
--   dialogue_count: Dialogues that they are made from, each counted once.
--   turn_count: Turns of these dialogues, whether examples or not.
--   task_example_count: Examples of the task in all splits of the publisher's release; the same in each of them.
--   example_share: example_count by task_example_count, 0 to 1.
select
    corpus_id,
    task,
    release,
    split,
    min(standard_split) as standard_split,
    sum(example_count)::bigint as example_count,
    coalesce(sum(example_count) filter (where is_default), 0)::bigint as default_example_count,
    sum(dialogue_count)::bigint as dialogue_count,
    sum(turn_count)::bigint as turn_count,
    max(task_example_count) as task_example_count,
    sum(example_count) / max(task_example_count)::double as example_share,
from bi.split_publications
group by corpus_id, task, release, split
