-- The balanced accuracy of hard predictions of one class, which the authors' script calls ROC AUC, and their accuracy, which the authors give for the neural model.
select
    slice,
    [
        metrics.value(
            'ROC AUC',
            true,
            (
                count_if(is_positive and is_hit) / nullif(count_if(is_positive), 0)
                + count_if(not is_positive and is_hit) / nullif(count_if(not is_positive), 0)
            ) / 2,
            count(*)
        ),
        metrics.share('accuracy (' || any_value(positive) || ')', true, count_if(is_hit), count(*))
    ] as results,
from (select *, label is not null and (label = positive) = is_positive as is_hit from sliced)
group by slice
