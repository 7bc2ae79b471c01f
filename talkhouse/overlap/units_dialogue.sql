select
    owner_no,
    0 as turn_index,
    string_agg(said.text, chr(10) order by turn_index) as text,
    coalesce(string_agg(nullif(form, ''), ' ' order by turn_index), '') as form,
    sum(tokens)::bigint as tokens,
    sum(letters)::bigint as letters,
${with_forms}
group by owner_no
