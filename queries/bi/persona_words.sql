-- Each turn of a person with a persona, with the words of at least 5 letters that the turn shares with the persona.
-- grain: record_id, turn_index
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   record_id: The record that has the persona; personas of one dialogue may differ between records.
--   is_default: True in the default publication of the dialogue: filter by it to count a turn once that several of the publisher's releases have.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a turn once that several subsets of a split have.
--   turn_index: 0-based position in the published order.
--   speaker_name: Name or alias of the person; null where none is published.
--   text: What the turn says, verbatim.
--   persona_word_count: Different words of at least 5 letters, in lower case, of all personas that the record has for the person.
--   word_count: Different words of at least 5 letters, in lower case, of the turn.
--   shared_word_count: Of these, words that the persona has, too.
--   shared_words: These words, in the order of characters; null where there is none.
--   shared_share: shared_word_count by word_count, 0 to 1: how much of the turn is words of the persona; null where the turn has no such word.
with
persona_words as (
    select
        record_id,
        dialogue_id,
        speaker_id,
        list_distinct(
            regexp_extract_all(lower(array_to_string(list(text order by text), ' ')), '\p{L}{5,}')
        ) as words,
    from bi.persona_uses
    where speaker_id is not null
    group by record_id, dialogue_id, speaker_id
),

said as (
    select
        publications.corpus_id,
        publications.release,
        publications.split,
        publications.standard_split,
        publications.subset,
        publications.record_id,
        publications.is_default,
        publications.is_first_in_split,
        publications.dialogue_id,
        turns.turn_index,
        turns.speaker_id,
        turns.role,
        turns.kind,
        turns.text,
        persona_words.words as persona_words,
        list_sort(list_distinct(regexp_extract_all(lower(turns.text), '\p{L}{5,}'))) as words,
    from bi.publications
    inner join persona_words
        on persona_words.record_id = publications.record_id
        and persona_words.dialogue_id = publications.dialogue_id
    inner join main.turns
        on turns.dialogue_id = persona_words.dialogue_id and turns.speaker_id = persona_words.speaker_id
),

compared as (
    select
        *,
        list_filter(words, lambda word: list_contains(persona_words, word)) as shared_words,
    from said
)

select
    compared.corpus_id,
    compared.release,
    compared.split,
    compared.standard_split,
    compared.subset,
    compared.record_id,
    compared.is_default,
    compared.is_first_in_split,
    compared.dialogue_id,
    compared.turn_index,
    compared.speaker_id,
    speakers.name as speaker_name,
    compared.role,
    compared.kind,
    compared.text,
    len(compared.persona_words) as persona_word_count,
    len(compared.words) as word_count,
    len(compared.shared_words) as shared_word_count,
    nullif(array_to_string(compared.shared_words, ', '), '') as shared_words,
    len(compared.shared_words) / nullif(len(compared.words), 0) as shared_share,
from compared
inner join main.speakers on speakers.speaker_id = compared.speaker_id
