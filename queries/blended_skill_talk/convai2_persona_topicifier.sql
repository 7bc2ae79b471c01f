-- ConvAI2 with a topic between the persona and the first message of each episode; empty unless ConvAI2's files are in the data folder.
-- grain: split, example_index
--   entry_index: 0-based number of the entry within its episode.
--   text: The message before the answer; in the first entry with persona and topic above it.
--   labels: The right answer.
with
openings as (
    select record_id, string_split(blended_skill_talk.strip(text), chr(10)) as lines
    from blended_skill_talk.outside_entries
    where subset = 'convai2' and entry_index = 0
),

parts as (
    select
        record_id,
        lines[-1] as utterance,
        coalesce(array_to_string(list_transform(lines[:-2], lambda line: line || chr(10)), ''), '') as persona,
    from openings
),

texts as (
    select
        record_id,
        persona || blended_skill_talk.topic_of_persona(persona) || chr(10) || utterance as text,
    from parts
)

select
    examples.split,
    case when examples.split = 'valid' then 'validation' else examples.split end as standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    outside_entries.entry_index,
    case when examples.turn_index = 0 then texts.text else outside_entries.text end as text,
    outside_entries.labels,
    examples.record_id,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join blended_skill_talk.outside_entries
    on outside_entries.record_id = examples.record_id
    and outside_entries.entry_index = examples.turn_index
    and outside_entries.subset = 'convai2'
left join texts on texts.record_id = examples.record_id
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'convai2_persona_topicifier'
