with page as (
    select unnest($dialogues::varchar[]) as dialogue_id
),
lengths as (
    select dialogue_id, count(*) as turn_count, min(turn_index) filter (kind = 'message') as turn_index
    from main.turns semi join page using (dialogue_id)
    group by dialogue_id
),
places as (
    select
        dialogue_id,
        list(distinct release order by release) filter (release is not null) as releases,
        list(distinct split order by split) filter (split is not null) as splits
    from main.records semi join page using (dialogue_id)
    group by dialogue_id
),
opening as (
    select turns.rowid as row_number from main.turns semi join lengths using (dialogue_id, turn_index)
),
said as (
    select dialogue_id, substring(text, 1, 300) as words
    from main.turns where rowid in (select row_number from opening)
)
select dialogues.dialogue_id, corpus_id, language, title, coalesce(turn_count, 0) as turn_count, releases, splits, words
from page
inner join main.dialogues using (dialogue_id)
left join lengths using (dialogue_id)
left join places using (dialogue_id)
left join said using (dialogue_id)
