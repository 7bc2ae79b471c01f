-- A metric that is the mean of a value over the examples that have one.
(metric, is_official, example_value) as
{
    'name': metric,
    'official': is_official,
    'value': favg(example_value::double order by example_value),
    'best': null::double,
    'worst': null::double,
    'count': null::bigint,
    'of': count(example_value)::bigint,
    'is_mean': true
}
