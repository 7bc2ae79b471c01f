-- Each word with how often it is said, by publisher's release, split, language, role and kind of turn. A word is a run of letters in lower case, with apostrophes between letters (don't); a number is none.
-- grain: corpus_id, release, is_default, split, standard_split, language, role, kind, word
--   corpus_id: Corpus of the dialogues.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for what the default publications of the dialogues say: filter by it to count a turn once that several of the publisher's releases have.
--   language: ISO 639-1 code of the dialogues; Japanese is written without spaces, so that its runs of letters are whole phrases.
--   role: Role of who says it: user, system, agent ...
--   kind: Kind of the turns: message, seed, initial, submit ...; filter by it to leave out what is no talk.
--   word: The word, in lower case, ’ written as '. No word is left out; in texts with HTML, names of tags are words too.
--   letter_count: Characters of the word: filter by it to leave out short ones.
--   use_count: How often the word is said; a dialogue that several subsets of a split have counts once.
--   turn_count: Turns with the word; counts of a word may be added up over any rows of one publisher's release, or of the default publications.
with
places as (
    select distinct corpus_id, release, is_default, split, standard_split, dialogue_id
    from bi.record_dialogues
),

said as (
    -- Sorted, so that a word that a turn has again is equal to the one before it: grouping turn by turn takes far more memory.
    select
        places.corpus_id,
        places.release,
        places.is_default,
        places.split,
        places.standard_split,
        dialogues.language,
        turns.role,
        turns.kind,
        list_sort(
            regexp_extract_all(replace(lower(turns.text), '’', ''''), '[\p{L}\p{M}]+(?:''[\p{L}\p{M}]+)*')
        ) as words,
    from places
    inner join main.dialogues
        on dialogues.corpus_id = places.corpus_id and dialogues.dialogue_id = places.dialogue_id
    inner join main.turns on turns.dialogue_id = places.dialogue_id
),

uses as (
    select
        *,
        unnest(words) as word,
        unnest([null] || words[:-2]) as previous_word,
    from said
)

select
    corpus_id,
    release,
    is_default,
    split,
    standard_split,
    language,
    role,
    kind,
    word,
    length(word) as letter_count,
    count(*) as use_count,
    count(*) filter (where word is distinct from previous_word) as turn_count,
from uses
-- A turn without words has a null in place of one.
where word is not null
group by corpus_id, release, is_default, split, standard_split, language, role, kind, word
