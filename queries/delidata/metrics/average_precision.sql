-- Average precision of the scores of one class (the sum over steps of recall), of all and as the mean over the groups that have a positive.
with
grouped as (
    select slice, null as dialogue_id, score, is_positive from sliced where score is not null
    union all
    select slice, dialogue_id, score, is_positive from sliced where score is not null
),

steps as (
    select slice, dialogue_id, score, count_if(is_positive) as positives, count(*) as examples,
    from grouped
    group by slice, dialogue_id, score
),

sums as (
    select
        *,
        sum(positives) over so_far as positives_so_far,
        sum(examples) over so_far as examples_so_far,
        sum(positives) over (partition by slice, dialogue_id) as all_positives,
    from steps
    window so_far as (partition by slice, dialogue_id order by score desc)
),

precisions as (
    select
        slice,
        dialogue_id,
        sum(examples) as examples,
        case
            when any_value(all_positives) > 0
                then fsum(positives::double / all_positives * (positives_so_far::double / examples_so_far))
        end as precision_value,
    from sums
    group by slice, dialogue_id
)

select
    slice,
    [
        metrics.value(
            'average precision',
            false,
            max(precision_value) filter (where dialogue_id is null),
            sum(examples) filter (where dialogue_id is null)
        ),
        metrics.mean(
            'average precision by group', false, case when dialogue_id is not null then precision_value end
        ),
        metrics.count_of(
            'groups without a positive', false, count_if(dialogue_id is not null and precision_value is null)
        )
    ] as results,
from precisions
group by slice
