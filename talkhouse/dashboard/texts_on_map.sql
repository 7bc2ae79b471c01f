with wanted as (
    select unnest($dialogues::varchar[]) as dialogue_id, unnest($turns::integer[]) as turn_index
),
numbered as (select turns.rowid as row_number from main.turns inner join wanted using (dialogue_id, turn_index))
select dialogue_id, turn_index, text from main.turns where rowid in (select row_number from numbered)
