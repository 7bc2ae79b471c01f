-- The topic that ParlAI's persona topicifier gives a persona (its lines, each 'your persona: ...'): that of its first line that is in the list of topics, else of the first sentence there with a word of more than 6 letters that stands in the persona, else of the last sentence.
(persona) as
(
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

    lines as (
        select
            unnest(string_split(blended_skill_talk.strip(persona), chr(10))) as line,
            unnest(range(len(string_split(blended_skill_talk.strip(persona), chr(10))))) as line_index,
    ),

    tokens as (
        select distinct unnest(string_split_regex(persona, '[' || blended_skill_talk.blanks() || ']')) as token
    ),

    starts as (
        select token, unnest(range(1, length(token) - 5)) as start
        from tokens
        where length(token) > 6
    ),

    pieces as (
        select substring(token, start, unnest(range(7, length(token) - start + 2))) as piece
        from starts
    )

    select
        coalesce(
            (
                select min_by(sentences.topic, lines.line_index)
                from lines
                inner join sentences
                    on sentences.sentence = blended_skill_talk.strip(replace(lines.line, 'your persona:', ''))
            ),
            (
                select min_by(long_words.topic, long_words.place)
                from pieces
                inner join long_words on long_words.word = pieces.piece
            ),
            (select max_by(topic, place) from sentences)
        )
)
