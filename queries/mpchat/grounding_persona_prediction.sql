-- Grounding persona prediction: each message that rests on a persona element, and 100 candidate elements.
-- grain: split, example_index
-- task_category: text-ranking
-- identifying: image_file = id; remainder_images = id; gold_id = id; gold_image = id; candidate_ids = id; candidate_images = id
--   context: The messages before the response, joined by spaces; empty for the first message.
--   response: The main author's message, verbatim; the variant without the response has the same rows.
--   image_file: File name of the thread's picture; empty where it has none.
--   remainder_text: The sentences of the author's other persona elements in their order, joined by spaces.
--   remainder_images: The pictures of the author's other persona elements, in the same order.
--   gold_id: The publisher's id of the persona element that the message rests on.
--   gold_text: The sentence of that element.
--   gold_image: The picture of that element.
--   candidate_ids: The publisher's ids of the first 100 candidate elements, the right one first; null in train.
--   candidate_texts: The sentences of the candidates, in the same order; null in train.
--   candidate_images: The pictures of the candidates, in the same order; null in train.
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

remainders as (
    select
        persona_uses.dialogue_id,
        persona_uses.record_id,
        persona_uses.turn_index,
        list(personas.text order by persona_uses.position) as titles,
        list(personas.image_file order by persona_uses.position) as images,
    from main.persona_uses
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    where persona_uses.persona_set = 'gpp_remainder' and starts_with(persona_uses.record_id, 'mpchat/gpp/')
    group by persona_uses.dialogue_id, persona_uses.record_id, persona_uses.turn_index
),

candidate_lists as (
    select
        candidates.dialogue_id,
        candidates.record_id,
        candidates.turn_index,
        list(personas.native_id order by candidates.position) as ids,
        list(personas.text order by candidates.position) as titles,
        list(personas.image_file order by candidates.position) as images,
    from main.candidates
    inner join main.personas on personas.persona_id = candidates.persona_id
    where candidates.candidate_set = 'gpp_persona'
        and candidates.position < 100
        and starts_with(candidates.record_id, 'mpchat/gpp/')
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
    array_to_string(remainders.titles, ' ') as remainder_text,
    remainders.images as remainder_images,
    gold.native_id as gold_id,
    gold.text as gold_text,
    gold.image_file as gold_image,
    case when examples.split = 'train' then null else candidate_lists.ids end as candidate_ids,
    case when examples.split = 'train' then null else candidate_lists.titles end as candidate_texts,
    case when examples.split = 'train' then null else candidate_lists.images end as candidate_images,
    case when examples.split = 'train' then null else 0 end as gold_position,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.dialogues on dialogues.dialogue_id = examples.dialogue_id
inner join talks on talks.dialogue_id = examples.dialogue_id
inner join main.persona_uses
    on persona_uses.dialogue_id = examples.dialogue_id
    and persona_uses.record_id = examples.record_id
    and persona_uses.turn_index = examples.turn_index
    and persona_uses.persona_set = 'gpp_gold'
inner join main.personas as gold on gold.persona_id = persona_uses.persona_id
inner join remainders
    on remainders.dialogue_id = examples.dialogue_id
    and remainders.record_id = examples.record_id
    and remainders.turn_index = examples.turn_index
left join candidate_lists
    on candidate_lists.dialogue_id = examples.dialogue_id
    and candidate_lists.record_id = examples.record_id
    and candidate_lists.turn_index = examples.turn_index
where examples.corpus_id = 'mpchat' and examples.task = 'grounding_persona_prediction'
