-- The persona that ParlAI's persona topicifier gives a topic: of the list, the first that has the topic's first sentence that is in any, else the first of all.
(wanted) as
(
    with
    -- Everything but the last step is for all topics at once, so that a column of topics costs as much as one.
    lines as (
        select
            case when persona_uses.extra is null then 'your persona: ' else '' end || personas.text as line,
            min(records.record_index) as record_index,
        from main.records
        inner join main.persona_uses on persona_uses.record_id = records.record_id
        inner join main.personas on personas.persona_id = persona_uses.persona_id
        where records.corpus_id = 'blended_skill_talk'
            and records.subset = 'persona_list'
            and records.extra ->> 'repeats' is null
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
            list_max(
                list_transform(
                    string_split(personas.text, ' ')[2:-2],
                    lambda word: {'size': length(word), 'word': word}
                )
            ).word as inner_word,
        from topics
        inner join main.persona_uses on persona_uses.record_id = topics.record_id
        inner join main.personas on personas.persona_id = persona_uses.persona_id
    ),

    hits as (
        select sentences.topic, sentences.position, line_words.record_index
        from sentences
        inner join line_words
            on line_words.word = sentences.inner_word and contains(line_words.line, sentences.sentence)
        union all
        select sentences.topic, sentences.position, lines.record_index
        from sentences
        inner join lines on contains(lines.line, sentences.sentence)
        where sentences.inner_word is null
    ),

    chosen as (
        select topic, min(position * 4294967296 + record_index) % 4294967296 as record_index
        from hits
        group by topic
    ),

    blocks as (
        select
            records.record_index,
            array_to_string(
                list(
                    case when persona_uses.extra is null then 'your persona: ' else '' end || personas.text
                    order by persona_uses.position
                ),
                chr(10)
            )
            || case when any_value(records.extra) ->> 'lacks_final_newline' is null then chr(10) else '' end as block,
        from main.records
        inner join main.persona_uses on persona_uses.record_id = records.record_id
        inner join main.personas on personas.persona_id = persona_uses.persona_id
        where records.corpus_id = 'blended_skill_talk'
            and records.subset = 'persona_list'
            and records.extra ->> 'repeats' is null
        group by records.record_index
    ),

    found as (
        select chosen.topic, blocks.block
        from chosen
        inner join blocks on blocks.record_index = chosen.record_index
    )

    select
        coalesce(
            (select found.block from found where found.topic = blended_skill_talk.strip(wanted)),
            (select min_by(blocks.block, blocks.record_index) from blocks)
        )
)
