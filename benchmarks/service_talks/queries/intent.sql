-- Intent: what the user wants, in each turn of theirs.
-- grain: release, split, example_index
-- labels: intents
-- scheme: service_talks.intent
--   utterance: What the user says.
--   intents: The intents, each with its service.
with
intents as (
    select record_id, turn_index, list(label order by item_index) as intents
    from main.annotations
    where scheme = 'service_talks.intent'
    group by record_id, turn_index
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.release,
    examples.turn_index,
    turns.text as utterance,
    intents.intents,
    examples.record_id,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join intents on intents.record_id = examples.record_id and intents.turn_index = examples.turn_index
where examples.corpus_id = 'service_talks' and examples.task = 'intent'
