-- The short columns give the row numbers first, so that of the texts, which are most of the file, only those shown are
-- read (7 ms instead of 240 ms among 440,160 turns).
with hits as (
    select unnest($dialogues::varchar[]) as dialogue_id, unnest($turns::integer[]) as turn_index
),
wanted as (
    select turns.rowid as row_number
    from main.turns
    inner join hits using (dialogue_id)
    where turns.turn_index between hits.turn_index - $context and hits.turn_index + $context
)
select
    turns.dialogue_id,
    turns.turn_index,
    turns.role,
    turns.kind,
    turns.speaker_id,
    coalesce(speakers.name, case when not speakers.is_anonymous then speakers.native_id end) as speaker,
    turns.said_at,
    turns.text,
    regexp_replace(turns.text, $pattern, $tag, 'g${options}') as tagged,
from main.turns
left join main.speakers using (speaker_id)
where turns.rowid in (select row_number from wanted)
