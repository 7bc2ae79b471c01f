-- Wizard of Wikipedia with a persona above the topic of each episode; empty unless its files are in the data folder.
-- grain: split, example_index
-- task_category: text-generation
--   entry_index: 0-based number of the entry within its episode.
--   text: The message before the answer; in the first entry with persona and topic above it, and without a message where the wizard begins.
--   labels: The right answer, the wizard's.
with
persona_lines as (
    select
        records.record_index,
        records.extra ->> 'lacks_final_newline' as lacks_final_newline,
        persona_uses.position,
        case when persona_uses.extra is null then 'your persona: ' else '' end || personas.text as line,
    from main.records
    inner join main.persona_uses on persona_uses.record_id = records.record_id
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    where records.corpus_id = 'blended_skill_talk'
        and records.subset = 'persona_list'
        and records.extra ->> 'repeats' is null
),

lines as (
    select line, min(record_index) as record_index
    from persona_lines
    group by line
),

line_words as (
    select distinct unnest(string_split(line, ' ')) as word, line, record_index
    from lines
),

-- A topic that has several lines has the sentences of the last.
topics as (
    select native_id as topic, max_by(record_id, record_index) as record_id
    from main.records
    where corpus_id = 'blended_skill_talk'
        and subset = 'topic_to_persona_list'
        and extra ->> 'repeats' is null
    group by native_id
),

-- A word between two spaces of a sentence is a whole word of every line that has the sentence, so few lines
-- need to be searched.
sentences as (
    select
        topics.topic,
        persona_uses.position,
        personas.text as sentence,
        string_split(personas.text, ' ')[2:-2] as inner_words,
    from topics
    inner join main.persona_uses on persona_uses.record_id = topics.record_id
    inner join main.personas on personas.persona_id = persona_uses.persona_id
),

longest_words as (
    select topic, position, max_by(word, (length(word), word)) as word
    from (select topic, position, unnest(inner_words) as word from sentences) as inner_words
    group by topic, position
),

hits as (
    select sentences.topic, sentences.position, line_words.record_index
    from sentences
    inner join longest_words on longest_words.topic = sentences.topic and longest_words.position = sentences.position
    inner join line_words
        on line_words.word = longest_words.word and contains(line_words.line, sentences.sentence)
    union all
    select sentences.topic, sentences.position, lines.record_index
    from sentences
    inner join lines on contains(lines.line, sentences.sentence)
    where len(sentences.inner_words) = 0
),

chosen as (
    select topic, min(position * 4294967296 + record_index) % 4294967296 as record_index
    from hits
    group by topic
),

blocks as (
    select
        record_index,
        array_to_string(list(line order by position), chr(10))
        || case when max(lacks_final_newline) is null then chr(10) else '' end as block,
    from persona_lines
    group by record_index
),

openings as (
    select record_id, string_split(blended_skill_talk.strip(text), chr(10)) as lines
    from blended_skill_talk.outside_entries
    where subset = 'wizard_of_wikipedia' and entry_index = 0
),

-- The first persona with a line that has the first sentence of the topic that any line has, else the first persona.
texts as (
    select
        openings.record_id,
        coalesce(blocks.block, first_block.block)
        || openings.lines[1]
        || chr(10)
        || coalesce(openings.lines[2], '') as text,
    from openings
    left join chosen on chosen.topic = blended_skill_talk.strip(openings.lines[1])
    left join blocks on blocks.record_index = chosen.record_index
    cross join (select min_by(block, record_index) as block from blocks) as first_block
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
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join blended_skill_talk.outside_entries
    on outside_entries.record_id = examples.record_id
    and outside_entries.entry_index = examples.turn_index
    and outside_entries.subset = 'wizard_of_wikipedia'
left join texts on texts.record_id = examples.record_id
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'wow_persona_topicifier'
