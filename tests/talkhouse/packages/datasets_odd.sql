create or replace table main.stored as
select
    ['10 % of it', 'dev-2', 'é', 'test', 'x.y', null][i::integer % 6 + 1] as split,
    i::integer as number,
    [null, '', ' ', 'None', 'no', '0', e'a\r\nb', e'\u2028', '😀', '#', '"', '- x: y'][i::integer % 12 + 1] as text,
    [null, [], [null], [''], ['a', null]][i::integer % 5 + 1]::varchar[] as texts,
    [null, [], [null], [[]], [['a'], null, []]][i::integer % 5 + 1]::varchar[][] as nested,
    {'a': [1, null], 'b': if(i % 2 = 0, 'x', null)} as pair,
    if(i % 2 = 0, null, i::integer) as maybe,
    '{"n": 1e3, "m": 1.0}'::json as j,
    timestamp '2020-01-02 03:04:05.678' + interval (i) second as t,
    date '2020-01-02' + i::integer as day,
    if(i % 3 = 0, null, i % 3 = 1) as yes
from range(60) as numbers (i)
