-- The authors' three formulas: the mean share of common intents, and micro and macro F1 over the intents that occur in gold.
with
cells as (
    select slice, unnest(gold) as class, 1 as gold, 0 as predicted, 0 as hits from sliced
    union all
    select slice, unnest(labels), 0, 1, 0 from sliced
    union all
    select slice, unnest(hits), 0, 0, 1 from sliced
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
),

sums as (
    select
        slice,
        favg(f1 order by f1) filter (where gold > 0) as macro,
        2 * sum(hits)::double / (sum(gold) + sum(predicted)) as micro,
        list(
            [
                metrics.share('precision (' || class || ')', false, hits, predicted),
                metrics.share('recall (' || class || ')', false, hits, gold),
                metrics.value('F1 (' || class || ')', false, f1, gold)
            ]
            order by class
        ) as each,
    from classes
    group by slice
),

shares as (
    select
        slice,
        count(*) as examples,
        [
            metrics.mean(
                'accuracy', true, len(hits)::double / (len(gold) + len(labels) - len(hits))
            )
        ] as accuracy,
    from sliced
    group by slice
)

select
    shares.slice,
    shares.accuracy
    || [
        metrics.value('F1 micro', true, sums.micro, shares.examples),
        metrics.value('F1 macro', true, sums.macro, shares.examples)
    ]
    || flatten(sums.each) as results,
from shares
inner join sums on sums.slice is not distinct from shares.slice
