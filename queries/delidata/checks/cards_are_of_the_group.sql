-- The cards of submits, solutions and trackers are among the four of the group.
-- severity: warn
-- rule: DE-06
with
mentions as (
    select
        record_id,
        dialogue_id,
        turn_index,
        unnest(case when label = 'N/A' then ['/'] else [label] end) as card,
    from main.annotations
    where scheme in ('delidata.tracker', 'delidata.solution') and label is not null
    union all
    select
        records.record_id,
        turns.dialogue_id,
        turns.turn_index,
        unnest(string_split(turns.text, ',')) as card,
    from main.records
    inner join main.turns on turns.dialogue_id = records.dialogue_id
    where records.corpus_id = 'delidata' and turns.kind = 'submit' and turns.text <> ''
)

select
    mentions.record_id,
    min(mentions.turn_index) as turn_index,
    'the card ' || mentions.card || ' is none of the group''s four, in '
        || count(distinct mentions.turn_index) || ' rows' as detail,
from mentions
inner join main.dialogues on dialogues.dialogue_id = mentions.dialogue_id
where not list_contains((dialogues.extra -> 'cards')::varchar[], mentions.card)
group by mentions.record_id, mentions.card
order by mentions.record_id, mentions.card
