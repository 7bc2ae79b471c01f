-- Wizard of Wikipedia with a persona above the topic of each episode; empty unless its files are in the data folder.
-- grain: split, example_index
--   entry_index: 0-based number of the entry within its episode.
--   text: The message before the answer; in the first entry with persona and topic above it, and without a message where the wizard begins.
--   labels: The right answer, the wizard's.
with
openings as (
    select record_id, string_split(blended_skill_talk.strip(text), chr(10)) as lines
    from blended_skill_talk.outside_entries
    where subset = 'wizard_of_wikipedia' and entry_index = 0
),

texts as (
    select
        record_id,
        blended_skill_talk.persona_of_topic(lines[1]) || lines[1] || chr(10) || coalesce(lines[2], '') as text,
    from openings
)

select
    examples.split,
    records.standard_split,
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
    and outside_entries.subset = 'wizard_of_wikipedia'
left join texts on texts.record_id = examples.record_id
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'wow_persona_topicifier'
