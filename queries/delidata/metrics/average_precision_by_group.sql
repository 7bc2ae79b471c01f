-- The mean of the average precision of each group that has a positive, and how many groups have none.
select
    slice,
    [
        metrics.mean('average precision by group', false, precision_value),
        metrics.count_of('groups without a positive', false, count_if(precision_value is null))
    ] as results,
from (
    select
        slice,
        metrics.average_precision(is_positive, positives_so_far, examples_so_far) as precision_value,
    from (
        select
            slice,
            dialogue_id,
            is_positive,
            count_if(is_positive) over so_far as positives_so_far,
            count(*) over so_far as examples_so_far,
        from sliced
        where score is not null
        window so_far as (partition by slice, dialogue_id order by score desc)
    )
    group by slice, dialogue_id
)
group by slice
