-- Hits of ranked candidates by their text, and the rank of the answer, over the examples that have a ranking.
select
    slice,
    [
        metrics.over_ties(
            'hits@1',
            true,
            case when says then coalesce(metrics.hit_any(above, tied_with_best, right_ones, 1), 0) end,
            case when says then coalesce((above < 1)::integer, 0) end,
            case when says then coalesce((above + tied_with_best - right_ones < 1)::integer, 0) end,
            tied
        ),
        metrics.over_ties(
            'hits@5',
            true,
            case when says then coalesce(metrics.hit_any(above, tied_with_best, right_ones, 5), 0) end,
            case when says then coalesce((above < 5)::integer, 0) end,
            case when says then coalesce((above + tied_with_best - right_ones < 5)::integer, 0) end,
            tied
        ),
        metrics.over_ties(
            'hits@10',
            true,
            case when says then coalesce(metrics.hit_any(above, tied_with_best, right_ones, 10), 0) end,
            case when says then coalesce((above < 10)::integer, 0) end,
            case when says then coalesce((above + tied_with_best - right_ones < 10)::integer, 0) end,
            tied
        ),
        metrics.over_ties(
            'hits@100',
            true,
            case when says then coalesce(metrics.hit_any(above, tied_with_best, right_ones, 100), 0) end,
            case when says then coalesce((above < 100)::integer, 0) end,
            case when says then coalesce((above + tied_with_best - right_ones < 100)::integer, 0) end,
            tied
        ),
        metrics.over_ties(
            'rank',
            true,
            case when says then coalesce(first_above + (first_tied + 1) / 2, candidates + 1) end,
            case when says then coalesce(first_above + 1, candidates + 1) end,
            case when says then coalesce(first_above + first_tied, candidates + 1) end,
            tied
        ),
        metrics.over_ties(
            'mrr',
            true,
            case
                when says
                    then coalesce(metrics.reciprocal_rank(first_above, first_tied), 0)
                        + case when first_above is null then 1.0 / (candidates + 1) else 0 end
            end,
            case when says then 1.0 / coalesce(first_above + 1, candidates + 1) end,
            case when says then 1.0 / coalesce(first_above + first_tied, candidates + 1) end,
            tied
        )
    ] as results,
from sliced
group by slice
having count_if(says) > 0
