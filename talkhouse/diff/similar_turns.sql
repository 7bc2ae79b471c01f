create or replace temp table "?turns ${name}" as
select
    ids.corpus, ids.id, ids.size, ids.number,
    hash(turns.role, turns.text, row_number() over (partition by ids.id, turns.role, turns.text)) as said,
from ${table} as ids
inner join ${warehouse}.main.turns on turns.dialogue_id = ids.id
where ids.pair is null
