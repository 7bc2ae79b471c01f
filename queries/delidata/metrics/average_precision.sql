-- Average precision of the scores of one class (the sum over steps of recall), over all examples that have a score.
select
    slice,
    [
        metrics.value(
            'average precision',
            false,
            metrics.average_precision(is_positive, positives_so_far, examples_so_far),
            count(*)
        )
    ] as results,
from (
    select
        slice,
        is_positive,
        count_if(is_positive) over so_far as positives_so_far,
        count(*) over so_far as examples_so_far,
    from sliced
    where score is not null
    window so_far as (partition by slice order by score desc)
)
group by slice
