-- Every labelled utterance of the dialogues that have intent labels, in the order of the files; the authors leave out train's 10298.
-- grain: release, split, example_index
with
labelled as (
    select record_id, record_index, dialogue_id
    from main.records
    where corpus_id = 'mantis' and subset = 'intents'
    union all
    -- Labels of the CSV belong to the dialogues of the complete file, and are those that the authors would merge into it.
    select records.record_id, conversations.record_index, records.dialogue_id
    from main.records
    inner join mantis.conversations on conversations.dialogue_id = records.dialogue_id
    where records.corpus_id = 'mantis' and records.subset = 'intents_csv'
)

select
    null::varchar as release,
    utterance_intents.split,
    row_number() over (
        partition by utterance_intents.split
        order by labelled.record_index, utterance_intents.turn_index
    ) - 1 as example_index,
    utterance_intents.record_id,
    utterance_intents.dialogue_id,
    utterance_intents.turn_index,
from mantis.utterance_intents
inner join labelled
    on labelled.record_id = utterance_intents.record_id and labelled.dialogue_id = utterance_intents.dialogue_id
where utterance_intents.has_intent_labels
    and not (utterance_intents.split = 'train' and utterance_intents.native_id = '10298')
order by utterance_intents.split, example_index
