-- ConvAI2 with a topic between the persona and the first message of each episode; empty unless ConvAI2's files are in the data folder.
-- grain: split, example_index
-- task_category: text-generation
--   entry_index: 0-based number of the entry within its episode.
--   text: The message before the answer; in the first entry with persona and topic above it.
--   labels: The right answer.
with
sentences as (
    select
        personas.text as sentence,
        min_by(records.native_id, records.record_index * 4294967296 + persona_uses.position) as topic,
        min(records.record_index * 4294967296 + persona_uses.position) as place,
    from main.records
    inner join main.persona_uses on persona_uses.record_id = records.record_id
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    where records.corpus_id = 'blended_skill_talk'
        and records.subset = 'topic_to_persona_list'
        and records.extra ->> 'repeats' is null
    group by personas.text
),

words as (
    select unnest(string_split_regex(sentence, '[' || blended_skill_talk.blanks() || ']')) as word, topic, place
    from sentences
),

long_words as (
    select word, min(place) as place, min_by(topic, place) as topic
    from words
    where length(word) > 6
    group by word
),

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

lines as (
    select
        record_id,
        unnest(lines) as line,
        unnest(range(len(lines))) as line_index,
    from (select record_id, string_split(blended_skill_talk.strip(persona), chr(10)) as lines from parts) as personas
),

topics_of_lines as (
    select lines.record_id, min_by(sentences.topic, lines.line_index) as topic
    from lines
    inner join sentences
        on sentences.sentence = blended_skill_talk.strip(replace(lines.line, 'your persona:', ''))
    group by lines.record_id
),

tokens as (
    select distinct
        record_id,
        unnest(string_split_regex(persona, '[' || blended_skill_talk.blanks() || ']')) as token,
    from parts
),

starts as (
    select record_id, token, unnest(range(1, length(token) - 5)) as start
    from tokens
    where length(token) > 6
),

pieces as (
    select record_id, substring(token, start, unnest(range(7, length(token) - start + 2))) as piece
    from starts
),

topics_of_words as (
    select pieces.record_id, min_by(long_words.topic, long_words.place) as topic
    from pieces
    inner join long_words on long_words.word = pieces.piece
    group by pieces.record_id
),

-- The topic of the first line that is in the list of topics, else of the first sentence there with a word of more than
-- 6 letters that stands in the persona, else of the last sentence.
texts as (
    select
        parts.record_id,
        parts.persona
        || coalesce(topics_of_lines.topic, topics_of_words.topic, last_topic.topic)
        || chr(10)
        || parts.utterance as text,
    from parts
    left join topics_of_lines on topics_of_lines.record_id = parts.record_id
    left join topics_of_words on topics_of_words.record_id = parts.record_id
    cross join (select max_by(topic, place) as topic from sentences) as last_topic
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
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join blended_skill_talk.outside_entries
    on outside_entries.record_id = examples.record_id
    and outside_entries.entry_index = examples.turn_index
    and outside_entries.subset = 'convai2'
left join texts on texts.record_id = examples.record_id
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'convai2_persona_topicifier'
