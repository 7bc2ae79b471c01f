-- Functions are named in full: in a warehouse, a macro of the same name would come before DuckDB's own.
-- The hash of each turn of some dialogues, and of each of the dialogues, as `notes.text_sha256` says.
with said as (
    select dialogue_id, turn_index, system.main.sha256(text) as hash
    from main.turns
    where dialogue_id in (select system.main.unnest($dialogues::varchar[]))
)
select dialogue_id, turn_index, hash from said
union all
select
    dialogues.dialogue_id,
    null,
    system.main.sha256(coalesce(system.main.string_agg(hash || e'\n', '' order by said.turn_index), '')),
from main.dialogues as dialogues
left join said on said.dialogue_id = dialogues.dialogue_id
where dialogues.dialogue_id in (select system.main.unnest($dialogues::varchar[]))
group by dialogues.dialogue_id
