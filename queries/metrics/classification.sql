-- Macro F1 as scikit-learn has it, over the classes that occur in gold or predicted labels, and what its report prints beside it.
with
cells as (
    select slice, gold as class, 1 as gold, 0 as predicted, 0 as hits from sliced
    union all
    select slice, label, 0, 1, (label = gold)::integer from sliced where label is not null
),

classes as (
    select
        slice,
        class,
        sum(gold)::bigint as gold,
        sum(predicted)::bigint as predicted,
        sum(hits)::bigint as hits,
        case when sum(hits) = 0 then 0.0::double else 2 * sum(hits)::double / (sum(gold) + sum(predicted)) end as f1,
    from cells
    group by slice, class
)

select
    slice,
    [
        metrics.value('F1 macro', true, favg(f1 order by f1), sum(gold)),
        metrics.share('accuracy', false, sum(hits), sum(gold)),
        metrics.value('F1 weighted', false, fsum(f1 * gold order by f1 * gold) / sum(gold), sum(gold)),
        metrics.value(
            'F1 micro', false, 2 * sum(hits)::double / (sum(gold) + sum(predicted)), sum(gold)
        )
    ]
    || flatten(
        list(
            [
                metrics.share('precision (' || class || ')', false, hits, predicted),
                metrics.share('recall (' || class || ')', false, hits, gold),
                metrics.value('F1 (' || class || ')', false, f1, gold)
            ]
            order by class
        )
    ) as results,
from classes
group by slice
