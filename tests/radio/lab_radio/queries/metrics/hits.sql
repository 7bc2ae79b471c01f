-- The share of calls whose act is right.
select slice, [metrics.share('hits', true, count_if(label = gold), count(*))] as results
from sliced
group by slice
