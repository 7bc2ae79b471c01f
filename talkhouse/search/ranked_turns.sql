-- The short columns give the row numbers first, as in a search to the character: few of the texts are read.
with hits as (
    select unnest($owners::varchar[]) as dialogue_id, unnest($turns::integer[]) as turn_index
),
wanted as (
    select turns.rowid as row_number from main.turns inner join hits using (dialogue_id, turn_index)
)
select
    turns.dialogue_id as owner, turns.turn_index as owner_turn, turns.dialogue_id, turns.turn_index,
    null as record_id, turns.role, turns.text,
    coalesce(speakers.name, case when not speakers.is_anonymous then speakers.native_id end) as speaker,
from main.turns
left join main.speakers using (speaker_id)
where turns.rowid in (select row_number from wanted)
