-- Speaker identification: each thread's last message, the messages before it, and the personas of 100 candidate authors.
-- grain: split, example_index
-- task_category: text-ranking
-- identifying: image_file = id; persona_images = id; candidate_images = id
--   context: All messages but the last, joined by spaces; empty where there is one message.
--   response: The last message, whoever wrote it.
--   image_file: File name of the thread's picture; empty where it has none.
--   persona_text: The sentences of the main author's persona in their order, joined by spaces.
--   persona_images: The pictures of the main author's persona, in the same order.
--   candidate_texts: The first 100 candidate authors, each one's sentences joined by spaces, the right one first; null in train.
--   candidate_images: Each candidate author's pictures, in the same order; null in train.
--   gold_position: 0-based position of the right author among the candidates; null in train.
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
    where persona_uses.persona_set = 'si_main' and starts_with(persona_uses.record_id, 'mpchat/si/')
    group by persona_uses.dialogue_id, persona_uses.record_id
),

-- A candidate author has one to five elements, or the example is rejected (MP-05). So each is taken by its place:
-- an ordered list for each of 300,000 authors would take three times as long.
authors as (
    select
        candidates.dialogue_id,
        candidates.record_id,
        candidates.position,
        concat_ws(
            ' ',
            max(personas.text) filter (where candidates.item_index = 0),
            max(personas.text) filter (where candidates.item_index = 1),
            max(personas.text) filter (where candidates.item_index = 2),
            max(personas.text) filter (where candidates.item_index = 3),
            max(personas.text) filter (where candidates.item_index = 4)
        ) as titles,
        [
            max(personas.image_file) filter (where candidates.item_index = 0),
            max(personas.image_file) filter (where candidates.item_index = 1),
            max(personas.image_file) filter (where candidates.item_index = 2),
            max(personas.image_file) filter (where candidates.item_index = 3),
            max(personas.image_file) filter (where candidates.item_index = 4)
        ][1:max(candidates.item_index) + 1] as images,
    from main.candidates
    inner join main.personas on personas.persona_id = candidates.persona_id
    where candidates.candidate_set = 'si_author'
        and candidates.position < 100
        and starts_with(candidates.record_id, 'mpchat/si/')
    group by candidates.dialogue_id, candidates.record_id, candidates.position
),

candidate_lists as (
    select
        dialogue_id,
        record_id,
        list(titles order by position) as titles,
        list(images order by position) as images,
    from authors
    group by dialogue_id, record_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    -- Up to DuckDB 1.4, array_to_string of an empty list is null.
    coalesce(array_to_string(talks.messages[:-2], ' '), '') as context,
    talks.messages[-1] as response,
    mpchat.image_file(dialogues.extra, records.extra) as image_file,
    array_to_string(persona_lists.titles, ' ') as persona_text,
    persona_lists.images as persona_images,
    case when examples.split = 'train' then null else candidate_lists.titles end as candidate_texts,
    case when examples.split = 'train' then null else candidate_lists.images end as candidate_images,
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
    on candidate_lists.dialogue_id = examples.dialogue_id and candidate_lists.record_id = examples.record_id
where examples.corpus_id = 'mpchat' and examples.task = 'speaker_identification'
