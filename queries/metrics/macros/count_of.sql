-- A number that stands beside the metrics, such as how many examples there are.
(metric, is_official, number) as
{
    'name': metric,
    'official': is_official,
    'value': number::double,
    'best': null::double,
    'worst': null::double,
    'count': number::bigint,
    'of': null::bigint,
    'is_mean': false
}
