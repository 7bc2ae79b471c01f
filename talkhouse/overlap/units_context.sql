select owner_no, turn_index, text, form, tokens, letters
from (
    select
        owner_no,
        turn_index,
        concat_ws(chr(10), ${texts}) as text,
        concat_ws(' ', ${forms}) as form,
        ${counts} as tokens,
        ${letters} as letters,
    ${with_forms}
    window one_dialogue as (partition by owner_no order by turn_index)
)
where (owner_no, turn_index) in (select owner_no, turn_index from asked where path is null)
union all
select
    owner_no,
    before.turn_index,
    string_agg(said.text, chr(10) order by place),
    coalesce(string_agg(nullif(form, ''), ' ' order by place), ''),
    sum(tokens)::bigint,
    sum(letters)::bigint,
from (
    select owner_no, turn_index, unnest(path[-${most}:]) as answered, unnest(range(${most})) as place
    from asked
) as before
inner join said using (owner_no)
inner join turn_forms on turn_forms.text = said.text
where said.turn_index = before.answered
group by owner_no, before.turn_index
