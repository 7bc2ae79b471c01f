create view bi.odd as
select * from (values
    ('a b', {'x': 1, 'y z': 'q'}, [{'k': 1, 'l': ['a']}, {'k': null, 'l': []}], [['a', null], [], null],
     date '2020-01-02', time '01:02:03', timestamp '2020-01-02 03:04:05.678901', 'e1'::enum('e1', 'e2'), 7::ubigint,
     1.25::decimal(9, 2), 'column', 1, 'name', null::integer),
    ('x.y', null, null, null, null, null, null, null, null, null, null, null, null, null),
    ('tr-ain', {'x': null, 'y z': null}, [], [], date '1500-01-02', time '23:59:59', timestamp '1200-01-02 03:04:05',
     'e2', 0, -1.25, 'column', 2, 'name', null),
    (null, null, null, null, null, null, null, null, null, null, null, null, null, null)
) as rows(split, "a struct", structs, nested, day, "time", "timestamp", kind, number, decimal, "file_split", "index",
          "a:b/c#d?é 日本", nothing)
