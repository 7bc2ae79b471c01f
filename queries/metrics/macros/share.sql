-- A metric that is a share of examples, or of labels: so many of so many; 0 where there are none.
(metric, is_official, hits, total) as
{
    'name': metric,
    'official': is_official,
    'value': case when hits = 0 then 0.0::double else hits::double / total end,
    'best': null::double,
    'worst': null::double,
    'count': hits::bigint,
    'of': total::bigint,
    'is_mean': true
}
