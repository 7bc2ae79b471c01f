-- A dialogue that the intents' CSV labels has intents for every utterance, or the authors' code stops.
-- severity: warn
-- rule: MA-08
with
labelled as (
    select utterance_intents.dialogue_id, arg_min(utterance_intents.record_id, utterance_intents.turn_index) as record_id
    from mantis.utterance_intents
    inner join main.records on records.record_id = utterance_intents.record_id
    where records.subset = 'intents_csv'
    group by utterance_intents.dialogue_id
)

select
    labelled.record_id,
    min(turns.turn_index) as turn_index,
    'no intents for ' || count(*) || ' utterances of ' || labelled.dialogue_id || ', the first is '
        || min(turns.turn_index) + 1 as detail,
from labelled
inner join main.turns on turns.dialogue_id = labelled.dialogue_id
anti join mantis.utterance_intents
    on utterance_intents.dialogue_id = turns.dialogue_id and utterance_intents.turn_index = turns.turn_index
group by labelled.record_id, labelled.dialogue_id
order by labelled.record_id
