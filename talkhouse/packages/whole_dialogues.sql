-- A turn's speaker has a name and an id; with pseudonyms only the id, which is one. Labels of a dialogue are null's.
with
chosen as (${dialogues}),
said as (${turns}),
counted as (${labels}),
majorities as (
    select dialogue_id, turn_index, scheme, min_by(label, (-vote_count, label)) as label
    from counted
    inner join main.labels using (scheme, label)
    where label <> ''
    group by dialogue_id, turn_index, scheme
)
select
    chosen.*,
    (
        select list(struct_pack(turn_index := turn_index, author := coalesce(${author}, role), text := text)
            order by turn_index)
        from said left join main.speakers using (speaker_id)
        where said.dialogue_id = chosen.dialogue_id
    ) as turns,
    (
        select list(struct_pack(turn_index := turn_index, scheme := scheme, label := label) order by turn_index, scheme)
        from majorities
        where majorities.dialogue_id = chosen.dialogue_id
    ) as labels
from chosen
order by dialogue_id
