-- The row numbers first, as in a search, so that of all texts only these are read.
with wanted as (
    select unnest($dialogues::varchar[]) as dialogue_id, unnest($begins::integer[]) as begin_index,
        unnest($ends::integer[]) as end_index
),
places as (
    select distinct turns.rowid as row_number
    from main.turns
    inner join wanted on wanted.dialogue_id = turns.dialogue_id
        and turns.turn_index between wanted.begin_index and wanted.end_index
)
select
    turns.dialogue_id, turns.turn_index, turns.role, turns.kind, turns.text,
    coalesce(speakers.name, case when not speakers.is_anonymous then speakers.native_id end) as speaker,
from main.turns
left join main.speakers using (speaker_id)
where turns.rowid in (select row_number from places)
order by turns.dialogue_id, turns.turn_index
