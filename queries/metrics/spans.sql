-- Precision, recall and F1 of labelled spans that are the same in start, end and label, of all of them and by label.
with
cells as (
    select slice, unnest(gold) as span, 1 as gold, 0 as predicted, 0 as hits from sliced
    union all
    select slice, unnest(labels), 0, 1, 0 from sliced
    union all
    select slice, unnest(list_intersect(labels, gold)), 0, 0, 1 from sliced
),

classes as (
    select
        slice,
        metrics.span_label(span) as class,
        sum(gold)::bigint as gold,
        sum(predicted)::bigint as predicted,
        sum(hits)::bigint as hits,
    from cells
    group by slice, metrics.span_label(span)
)

select
    slice,
    [
        metrics.value('F1', true, metrics.f_measure(sum(hits), sum(predicted), sum(gold)), sum(gold)),
        metrics.share('precision', true, sum(hits), sum(predicted)),
        metrics.share('recall', true, sum(hits), sum(gold))
    ]
    || flatten(
        list(
            [
                metrics.share('precision (' || class || ')', false, hits, predicted),
                metrics.share('recall (' || class || ')', false, hits, gold),
                metrics.value('F1 (' || class || ')', false, metrics.f_measure(hits, predicted, gold), gold)
            ]
            order by class
        )
    ) as results,
from classes
group by slice
