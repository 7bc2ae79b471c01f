-- The mean of a ranking metric: what is expected under a random order of the tied, and beside it the best and the worst order; official only without ties.
(metric, is_official, expected, if_first, if_last, tied) as
{
    'name': metric,
    'official': is_official and count_if(tied > 1) = 0,
    'value': favg(expected::double order by expected),
    'best': case when count_if(tied > 1) > 0 then favg(if_first::double order by if_first) end,
    'worst': case when count_if(tied > 1) > 0 then favg(if_last::double order by if_last) end,
    'count': null::bigint,
    'of': count(expected)::bigint,
    'is_mean': true
}
