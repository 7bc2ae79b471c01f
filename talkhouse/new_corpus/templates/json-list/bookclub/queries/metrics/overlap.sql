-- The mean share of common tags among those that were predicted or published.
select
    slice,
    [metrics.mean('overlap', true, len(list_intersect(labels, gold)) / len(list_distinct(labels || gold)))] as results,
from sliced
group by slice
