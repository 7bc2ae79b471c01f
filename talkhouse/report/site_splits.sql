-- By the hash of the id alone: a dialogue that is in several splits, tasks or releases is chosen in all of them.
with placed as (
    select corpus_id, null as task, release, split, standard_split, dialogue_id, 0 as example_count
    from bi.publications
    union all
    select examples.corpus_id, task, examples.release, examples.split, standard_split, examples.dialogue_id, 1
    from main.examples inner join main.records using (record_id)
),

counted as (
    select
        corpus_id, task, release, split, dialogue_id,
        min(standard_split) as standard_split,
        sum(example_count)::bigint as example_count,
    from placed
    group by corpus_id, task, release, split, dialogue_id
),

ordered as (
    select
        *,
        row_number() over (
            partition by corpus_id, task, release, split
            order by dialogue_id is null, sha256(dialogue_id), dialogue_id
        ) as place,
    from counted
)

select
    corpus_id, task, release, split,
    min(standard_split) as standard_split,
    sum(example_count)::bigint as example_count,
    count(dialogue_id) as dialogue_count,
    coalesce(list(dialogue_id order by dialogue_id) filter (place <= $most and dialogue_id is not null), []) as shown,
from ordered
group by corpus_id, task, release, split
order by
    corpus_id, task nulls first, release nulls first,
    list_position(['train', 'validation', 'test'], min(standard_split)) nulls last, split nulls last
