-- A metric that is computed over all examples at once, or null.
(metric, is_official, single_value, total) as
{
    'name': metric,
    'official': is_official,
    'value': single_value::double,
    'best': null::double,
    'worst': null::double,
    'count': null::bigint,
    'of': total::bigint,
    'is_mean': false
}
