-- Each split of each task with its size, the examples of default publications apart; whole splits: bi.splits.
-- grain: corpus_id, task, release, is_default, split
-- terms: none
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for examples from the default publications of their dialogues: filter by it to count an example once that several of the publisher's releases have. A split with both kinds has two rows.
--   example_count: Examples of the task in the split.
--   dialogue_count: Dialogues that they are made from, each counted once.
--   turn_count: Turns of these dialogues, whether examples or not.
--   task_example_count: Examples of the task in all splits of the publisher's release; the same in each of them.
--   example_share: example_count by task_example_count, 0 to 1.
with
used as (
    select
        examples.corpus_id,
        examples.task,
        examples.release,
        examples.split,
        examples.dialogue_id,
        min(records.standard_split) as standard_split,
        count(*) as example_count,
    from main.examples
    inner join main.records on records.record_id = examples.record_id
    group by examples.corpus_id, examples.task, examples.release, examples.split, examples.dialogue_id
),

lengths as (
    select dialogue_id, count(*) as turn_count
    from main.turns
    group by dialogue_id
),

placed as (
    select
        used.corpus_id,
        used.task,
        used.release,
        coalesce(default_releases.release = used.release, default_releases.release is null) as is_default,
        used.split,
        used.dialogue_id,
        used.standard_split,
        used.example_count,
        lengths.turn_count,
    from used
    left join bi.default_releases on default_releases.dialogue_id = used.dialogue_id
    left join lengths on lengths.dialogue_id = used.dialogue_id
),

sizes as (
    select
        corpus_id,
        task,
        release,
        is_default,
        split,
        min(standard_split) as standard_split,
        sum(example_count)::bigint as example_count,
        count(dialogue_id) as dialogue_count,
        coalesce(sum(turn_count), 0)::bigint as turn_count,
    from placed
    group by corpus_id, task, release, is_default, split
)

select
    corpus_id,
    task,
    release,
    is_default,
    split,
    standard_split,
    example_count,
    dialogue_count,
    turn_count,
    sum(example_count) over task::bigint as task_example_count,
    example_count / sum(example_count) over task::double as example_share,
from sizes
window task as (partition by corpus_id, task, release)
