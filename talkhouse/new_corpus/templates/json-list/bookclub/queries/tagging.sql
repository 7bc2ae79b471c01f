-- Tagging: each tagged utterance with who says it and its tags.
-- grain: release, split, example_index
-- labels: tags
-- scheme: bookclub.tag
--   utterance: What is said.
--   part: The part that the speaker takes in this talk.
--   is_question: Whether it ends in a question mark.
--   tags: Its tags, in the annotator's order.
with
tags as (
    select record_id, turn_index, list(label order by item_index) as tags
    from main.annotations
    where scheme = 'bookclub.tag'
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
    turns.role as part,
    "bookclub".is_question(turns.text) as is_question,
    tags.tags,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join tags on tags.record_id = examples.record_id and tags.turn_index = examples.turn_index
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'bookclub' and examples.task = 'tagging'
