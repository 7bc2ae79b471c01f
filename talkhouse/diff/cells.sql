insert into ${table}
with rows as (
    select
        row_number() over (order by pairs.change, ${order}, pairs.number) as place,
        pairs.change,
        to_json({${key_members}, ${number}})::varchar as "key",
        if(pairs.change = 'added', null, to_json({${before_members}, ${number}})::varchar) as key_before,
        ${cells} as cells,
    from ${joined}
)

select
    ${relation}, ${corpus}, change, "key", nullif(key_before, "key"),
    cell.name, cell.before, cell.after,
from rows, unnest(if(len(cells) = 0, [null], cells)) as of_row(cell)
order by place, cell.at
