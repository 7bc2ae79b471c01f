-- Mean average precision over all candidates and nDCG at 10; R_10@k and R_2@1 count the first 10 or 2 lines of a block only, as later papers do.
select
    slice,
    [
        metrics.over_ties(
            'map',
            true,
            metrics.reciprocal_rank(above, tied),
            metrics.reciprocal_rank(above, 1),
            metrics.reciprocal_rank(above + tied - 1, 1),
            tied
        ),
        metrics.over_ties(
            'ndcg',
            true,
            metrics.ndcg(above, tied, 10),
            metrics.ndcg(above, 1, 10),
            metrics.ndcg(above + tied - 1, 1, 10),
            tied
        ),
        metrics.over_ties(
            'recall@1',
            false,
            metrics.hit(above, tied, 1),
            metrics.hit(above, 1, 1),
            metrics.hit(above + tied - 1, 1, 1),
            tied
        ),
        metrics.over_ties(
            'recall@5',
            false,
            metrics.hit(above, tied, 5),
            metrics.hit(above, 1, 5),
            metrics.hit(above + tied - 1, 1, 5),
            tied
        ),
        metrics.over_ties(
            'recall@10',
            false,
            metrics.hit(above, tied, 10),
            metrics.hit(above, 1, 10),
            metrics.hit(above + tied - 1, 1, 10),
            tied
        ),
        metrics.over_ties(
            'R_10@1',
            false,
            metrics.hit(above_10, tied_10, 1),
            metrics.hit(above_10, 1, 1),
            metrics.hit(above_10 + tied_10 - 1, 1, 1),
            tied_10
        ),
        metrics.over_ties(
            'R_10@2',
            false,
            metrics.hit(above_10, tied_10, 2),
            metrics.hit(above_10, 1, 2),
            metrics.hit(above_10 + tied_10 - 1, 1, 2),
            tied_10
        ),
        metrics.over_ties(
            'R_10@5',
            false,
            metrics.hit(above_10, tied_10, 5),
            metrics.hit(above_10, 1, 5),
            metrics.hit(above_10 + tied_10 - 1, 1, 5),
            tied_10
        ),
        metrics.over_ties(
            'R_2@1',
            false,
            metrics.hit(above_2, tied_2, 1),
            metrics.hit(above_2, 1, 1),
            metrics.hit(above_2 + tied_2 - 1, 1, 1),
            tied_2
        )
    ] as results,
from sliced
group by slice
