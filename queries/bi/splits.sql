-- Each split of each task with its size; what no task uses is in bi.subsets.
-- grain: corpus_id, task, release, split
-- terms: none
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   example_count: Examples of the task in the split.
--   dialogue_count: Dialogues that they are made from, each counted once.
--   turn_count: Turns of these dialogues, whether examples or not.
--   task_example_count: Examples of the task in all splits of the release; the same in each of them.
--   example_share: example_count by task_example_count, 0 to 1.
with
sizes as (
    select
        examples.corpus_id,
        examples.task,
        examples.release,
        examples.split,
        min(records.standard_split) as standard_split,
        count(*) as example_count,
    from main.examples
    inner join main.records on records.record_id = examples.record_id
    group by examples.corpus_id, examples.task, examples.release, examples.split
),

split_dialogues as (
    select distinct corpus_id, task, release, split, dialogue_id
    from main.examples
    where dialogue_id is not null
),

lengths as (
    select dialogue_id, count(*) as turn_count
    from main.turns
    group by dialogue_id
),

dialogue_sizes as (
    select
        split_dialogues.corpus_id,
        split_dialogues.task,
        split_dialogues.release,
        split_dialogues.split,
        count(*) as dialogue_count,
        sum(lengths.turn_count)::bigint as turn_count,
    from split_dialogues
    left join lengths on lengths.dialogue_id = split_dialogues.dialogue_id
    group by split_dialogues.corpus_id, split_dialogues.task, split_dialogues.release, split_dialogues.split
)

select
    sizes.corpus_id,
    sizes.task,
    sizes.release,
    sizes.split,
    sizes.standard_split,
    sizes.example_count,
    coalesce(dialogue_sizes.dialogue_count, 0) as dialogue_count,
    coalesce(dialogue_sizes.turn_count, 0) as turn_count,
    sum(sizes.example_count) over task::bigint as task_example_count,
    sizes.example_count / sum(sizes.example_count) over task::double as example_share,
from sizes
left join dialogue_sizes
    on dialogue_sizes.corpus_id = sizes.corpus_id
    and dialogue_sizes.task = sizes.task
    and dialogue_sizes.release is not distinct from sizes.release
    and dialogue_sizes.split is not distinct from sizes.split
window task as (partition by sizes.corpus_id, sizes.task, sizes.release)
