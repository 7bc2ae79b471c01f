-- Recall at 1, at a tenth and at a half of the candidates (a fifth and a half up to 10), and mean reciprocal rank over all of them; official up to 100 candidates.
with
lists as (
    -- Of all lists, and not of those in a slice: a metric has the same name and cut in each.
    select max(candidates) as longest, from scored
),

cut as (
    select
        sliced.*,
        longest <= 100 as is_official,
        greatest(1, round_even(longest * 0.5, 0))::integer as half,
        greatest(1, round_even(longest * case when longest <= 10 then 0.2 else 0.1 end, 0))::integer as part,
    from sliced
    cross join lists
)

select
    slice,
    [
        metrics.over_ties(
            'recall@1',
            any_value(is_official),
            metrics.hit(above, tied, 1),
            metrics.hit(above, 1, 1),
            metrics.hit(above + tied - 1, 1, 1),
            tied
        ),
        metrics.over_ties(
            'recall@' || any_value(part),
            any_value(is_official),
            metrics.hit(above, tied, part),
            metrics.hit(above, 1, part),
            metrics.hit(above + tied - 1, 1, part),
            tied
        ),
        metrics.over_ties(
            'recall@' || any_value(half),
            any_value(is_official),
            metrics.hit(above, tied, half),
            metrics.hit(above, 1, half),
            metrics.hit(above + tied - 1, 1, half),
            tied
        ),
        metrics.over_ties(
            'mrr',
            any_value(is_official),
            metrics.reciprocal_rank(above, tied),
            metrics.reciprocal_rank(above, 1),
            metrics.reciprocal_rank(above + tied - 1, 1),
            tied
        )
    ] as results,
from cut
group by slice
