-- Response ranking: each user turn but the first with the turns before it, and the turn after it as the true response, rebuilt from the dialogues.
-- grain: split, example_index
-- task_category: text-ranking
--   turn_index: 0-based position of the response in its dialogue.
--   context: The utterances before the response, in order: the last 11 of them at most.
--   response: The utterance that follows the context, whoever says it.
--   record_id: The record that the example was made from.
with
talks as (
    select
        dialogue_id,
        list(text order by turn_index) as utterances,
    from main.turns
    where starts_with(dialogue_id, 'mantis:')
    group by dialogue_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    talks.utterances[greatest(1, examples.turn_index - 10):examples.turn_index] as context,
    talks.utterances[examples.turn_index + 1] as response,
    examples.record_id,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join talks on talks.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'mantis' and examples.task = 'response_ranking'
