-- Each worker of an episode with how much of the worker's persona shows in what he or she said: the persona's words of at least 5 letters that the worker's messages have.
-- grain: record_id, role
--   corpus_id: blended_skill_talk.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   persona_word_count: Distinct words of at least 5 letters in the worker's persona, in lower case.
--   said_word_count: Of these, words that occur in the worker's messages after the seed utterances.
--   overlap: said_word_count by persona_word_count, 0 to 1; null where the persona has no such word.
with
persona_words as (
    select distinct
        persona_uses.record_id,
        persona_uses.dialogue_id,
        persona_uses.persona_set as role,
        unnest(regexp_extract_all(lower(personas.text), '\p{L}{5,}')) as word,
    from main.persona_uses
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    where starts_with(persona_uses.record_id, 'blended_skill_talk/') and persona_uses.speaker_id is not null
),

said_words as (
    select distinct dialogue_id, role, unnest(regexp_extract_all(lower(text), '\p{L}{5,}')) as word
    from main.turns
    where starts_with(dialogue_id, 'blended_skill_talk:') and kind = 'message'
),

counted as (
    select
        persona_words.record_id,
        persona_words.role,
        count(*) as persona_word_count,
        count(said_words.word) as said_word_count,
    from persona_words
    left join said_words
        on said_words.dialogue_id = persona_words.dialogue_id
        and said_words.role = persona_words.role
        and said_words.word = persona_words.word
    group by persona_words.record_id, persona_words.role
)

select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.record_id,
    records.dialogue_id,
    dialogues.domain as context_dataset,
    participants.role,
    coalesce(counted.persona_word_count, 0) as persona_word_count,
    coalesce(counted.said_word_count, 0) as said_word_count,
    counted.said_word_count / counted.persona_word_count as overlap,
from main.records
inner join main.dialogues on dialogues.dialogue_id = records.dialogue_id
inner join main.participants on participants.dialogue_id = records.dialogue_id
left join counted on counted.record_id = records.record_id and counted.role = participants.role
where records.corpus_id = 'blended_skill_talk' and records.subset = 'episodes' and records.extra ->> 'repeats' is null
