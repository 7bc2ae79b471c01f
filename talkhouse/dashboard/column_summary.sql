-- What a column holds: its most frequent values if it has few, else a histogram of its numbers; and its nulls.
with
present as (select left(${column}::varchar, ${letters}) as text, (${number})::double as number from rows where ${column} is not null),

counts as (select text, count(*) as times from present group by text limit ${values} + 1),

ends as (select min(number) as low, max(number) as high, count(*) as present from present where isfinite(number))

select * from (
    select
        ${position} as position,
        'value' as kind,
        text,
        row_number() over (order by times desc, text) as place,
        times as number,
        (select count(*) from rows) as whole,
        null::double as low,
        null::double as high,
    from counts
    where (select count(*) from counts) between 1 and ${values}
    qualify place <= 4
)
union all
select
    ${position},
    'bin',
    null,
    least(${bins} - 1, coalesce(floor((number - low) / nullif(high - low, 0) * ${bins}), 0))::bigint,
    count(*),
    any_value(present),
    any_value(low),
    any_value(high),
from present cross join ends
where isfinite(number) and (select count(*) from counts) > ${values}
group by all
union all
select * from (
    select ${position}, 'none', null, 0, count(*) filter (${column} is null) as nulls, count(*), null, null
    from rows
)
where nulls > 0
