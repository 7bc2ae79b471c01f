-- Cohen's kappa of the predicted and the published moods; null where chance alone would agree.
select
    slice,
    [metrics.value('kappa', true, (agreed - by_chance) / nullif(1 - by_chance, 0), examples)] as results,
from (
    select
        slice,
        count(*) as examples,
        avg((label = gold)::integer) as agreed,
        avg((label = '+')::integer) * avg((gold = '+')::integer)
        + avg((label = '-')::integer) * avg((gold = '-')::integer) as by_chance,
    from sliced
    group by slice
)
