-- How often the right one of two has the higher score; a tie counts as a random order of the two has it.
select
    slice,
    [
        metrics.over_ties(
            'accuracy',
            true,
            metrics.hit(above, tied, 1),
            metrics.hit(above, 1, 1),
            metrics.hit(above + tied - 1, 1, 1),
            tied
        )
    ] as results,
from sliced
group by slice
