-- Each episode with the data set that its context comes from, and how long it is; the two seed utterances are not counted.
-- grain: record_id
--   corpus_id: blended_skill_talk.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   message_count: Turns after the seed utterances.
--   answer_count: Answers of the guided worker, each an example of guided_response.
--   message_count_bin: The least message_count of its bin: 0 for 0 to 1, 2 for 2 to 3, 4 ...
--   word_count: Words of the messages, as bi.turns counts them.
--   character_count: Characters of the messages.
--   mean_characters: character_count by message_count; null where there is no message.
select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.record_id,
    records.dialogue_id,
    dialogues.domain as context_dataset,
    count(*) filter (where turns.kind = 'message') as message_count,
    count(*) filter (where turns.kind = 'message' and turns.role = 'guided') as answer_count,
    count(*) filter (where turns.kind = 'message') // 2 * 2 as message_count_bin,
    coalesce(sum(bi.word_count(turns.text)) filter (where turns.kind = 'message'), 0)::bigint as word_count,
    coalesce(sum(length(turns.text)) filter (where turns.kind = 'message'), 0)::bigint as character_count,
    avg(length(turns.text)) filter (where turns.kind = 'message') as mean_characters,
from main.records
inner join main.dialogues on dialogues.dialogue_id = records.dialogue_id
inner join main.turns on turns.dialogue_id = records.dialogue_id
where records.corpus_id = 'blended_skill_talk' and records.subset = 'episodes' and records.extra ->> 'repeats' is null
group by
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.record_id,
    records.dialogue_id,
    dialogues.domain
