create table ${table} as
select text, form, tokens, ${letters} as letters
from (
    select text, len(found) as tokens, ${joined} as form
    from (select text, ${tokens} as found from (${texts}))
)
