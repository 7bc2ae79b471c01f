-- Intent prediction: each labelled utterance with its intents.
-- grain: split, example_index
-- labels: intents
-- scheme: mantis.intent
-- task_category: text-classification
--   turn_index: 0-based position of the utterance in its dialogue.
--   utterance: What is said, verbatim.
--   intents: The codes of the utterance's intents, verbatim and in published order.
--   record_id: The record that labels the utterance: of the intent file, or of the intents' CSV.
select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    turns.text as utterance,
    utterance_intents.intents,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns
    on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join mantis.utterance_intents
    on utterance_intents.dialogue_id = examples.dialogue_id and utterance_intents.turn_index = examples.turn_index
where examples.corpus_id = 'mantis' and examples.task = 'intent_prediction'
