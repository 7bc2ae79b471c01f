-- Each episode with the data set that its context comes from, and how long it is; the two seed utterances are not counted.
-- grain: record_id
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   message_count: Turns after the seed utterances.
--   answer_count: Answers of the guided worker, each an example of guided_response.
--   mean_characters: Mean length of a message in characters; null where there is none.
select
    records.record_id,
    records.dialogue_id,
    records.split,
    records.standard_split,
    dialogues.domain as context_dataset,
    count(*) filter (where turns.kind = 'message') as message_count,
    count(*) filter (where turns.kind = 'message' and turns.role = 'guided') as answer_count,
    avg(length(turns.text)) filter (where turns.kind = 'message') as mean_characters,
from main.records
inner join main.dialogues on dialogues.dialogue_id = records.dialogue_id
inner join main.turns on turns.dialogue_id = records.dialogue_id
where records.corpus_id = 'blended_skill_talk' and records.extra ->> 'repeats' is null
group by records.record_id, records.dialogue_id, records.split, records.standard_split, dialogues.domain
