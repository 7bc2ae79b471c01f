-- Response ranking: each user turn but the first with the turns before it, and the turn after it as the true response, rebuilt from the dialogues.
-- grain: split, example_index
-- task_category: text-ranking
--   turn_index: 0-based position of the response in its dialogue.
--   context: The utterances before the response, in order: the last 11 of them at most; where utterance_pos is not 1, 2, 3 ..., those that the authors' code picks by it.
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
),

numbered as (
    select
        examples.split,
        examples.example_index,
        contexts.context,
        contexts.response,
    from (
        select
            split,
            example_index,
            dialogue_id,
            row_number() over (partition by split, record_id order by example_index) - 1 as context_index,
        from main.examples
        where corpus_id = 'mantis'
            and task = 'response_ranking'
            and dialogue_id in (select dialogue_id from mantis.contexts_by_number)
    ) as examples
    inner join mantis.contexts_by_number as contexts
        on contexts.dialogue_id = examples.dialogue_id and contexts.context_index = examples.context_index
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    coalesce(
        numbered.context, talks.utterances[greatest(1, examples.turn_index - 10):examples.turn_index]
    ) as context,
    coalesce(numbered.response, talks.utterances[examples.turn_index + 1]) as response,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join talks on talks.dialogue_id = examples.dialogue_id
left join numbered on numbered.split = examples.split and numbered.example_index = examples.example_index
where examples.corpus_id = 'mantis' and examples.task = 'response_ranking'
