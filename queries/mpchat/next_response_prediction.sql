-- Next response prediction: each message of the main author, the messages before it, the author's persona, and 100 candidates.
-- grain: split, example_index
-- task_category: text-ranking
-- identifying: image_file = id; persona_images = id
--   context: The messages before the response, joined by spaces; empty for the first message.
--   response: The main author's message, verbatim.
--   image_file: File name of the thread's picture; empty where it has none.
--   persona_text: The sentences of candidate_personas in their order, joined by spaces.
--   persona_images: The pictures of candidate_personas, in the same order.
--   candidates: The candidate responses, the right one first; null in train.
--   gold_position: 0-based position of the right one among the candidates; null in train.
--   record_id: The record that the example was made from.
with
talks as (
    select
        dialogue_id,
        list(text order by turn_index) as messages,
    from main.turns
    where starts_with(dialogue_id, 'mpchat:')
    group by dialogue_id
),

persona_lists as (
    select
        persona_uses.dialogue_id,
        persona_uses.record_id,
        list(personas.text order by persona_uses.position) as titles,
        list(personas.image_file order by persona_uses.position) as images,
    from main.persona_uses
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    where persona_uses.persona_set = 'candidate' and starts_with(persona_uses.record_id, 'mpchat/nrp/')
    group by persona_uses.dialogue_id, persona_uses.record_id
),

candidate_lists as (
    select
        candidates.dialogue_id,
        candidates.record_id,
        candidates.turn_index,
        list(texts.text order by candidates.position) as texts,
    from main.candidates
    inner join main.texts on texts.text_id = candidates.text_id
    where candidates.candidate_set = 'nrp_response' and starts_with(candidates.record_id, 'mpchat/nrp/')
    group by candidates.dialogue_id, candidates.record_id, candidates.turn_index
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    -- Up to DuckDB 1.4, array_to_string of an empty list is null.
    coalesce(array_to_string(talks.messages[1:examples.turn_index], ' '), '') as context,
    talks.messages[examples.turn_index + 1] as response,
    mpchat.image_file(dialogues.extra, records.extra) as image_file,
    array_to_string(persona_lists.titles, ' ') as persona_text,
    persona_lists.images as persona_images,
    case when examples.split = 'train' then null else candidate_lists.texts end as candidates,
    case when examples.split = 'train' then null else 0 end as gold_position,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.dialogues on dialogues.dialogue_id = examples.dialogue_id
inner join talks on talks.dialogue_id = examples.dialogue_id
inner join persona_lists
    on persona_lists.dialogue_id = examples.dialogue_id and persona_lists.record_id = examples.record_id
left join candidate_lists
    on candidate_lists.dialogue_id = examples.dialogue_id
    and candidate_lists.record_id = examples.record_id
    and candidate_lists.turn_index = examples.turn_index
where examples.corpus_id = 'mpchat' and examples.task = 'next_response_prediction'
