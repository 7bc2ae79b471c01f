-- Each word with how often it is said, by release, split, language, role and kind of turn. A word is a run of letters in lower case, with apostrophes between letters (don't); a number is none.
-- grain: corpus_id, release, split, standard_split, language, role, kind, word
--   corpus_id: Corpus of the dialogues.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   language: ISO 639-1 code of the dialogues; Japanese is written without spaces, so that its runs of letters are whole phrases.
--   role: Role of who says it: user, system, agent ...
--   kind: Kind of the turns: message, seed, initial, submit ...; filter by it to leave out what is no talk.
--   word: The word, in lower case, ’ written as '. No word is left out; in texts with HTML, names of tags are words too.
--   letter_count: Characters of the word: filter by it to leave out short ones.
--   use_count: How often the word is said; a dialogue that several subsets of a split have counts once.
--   turn_count: Turns with the word; counts of a word may be added up over any rows of one release.
with
places as (
    select distinct corpus_id, release, split, standard_split, dialogue_id
    from bi.record_dialogues
),

said as (
    select
        dialogues.corpus_id,
        dialogues.dialogue_id,
        dialogues.language,
        turns.role,
        turns.kind,
        turns.turn_index,
        unnest(
            regexp_extract_all(replace(lower(turns.text), '’', ''''), '[\p{L}\p{M}]+(?:''[\p{L}\p{M}]+)*')
        ) as word,
    from main.turns
    inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
),

in_turns as (
    select corpus_id, dialogue_id, language, role, kind, turn_index, word, count(*) as use_count
    from said
    group by corpus_id, dialogue_id, language, role, kind, turn_index, word
),

in_dialogues as (
    select corpus_id, dialogue_id, language, role, kind, word, sum(use_count) as use_count, count(*) as turn_count
    from in_turns
    group by corpus_id, dialogue_id, language, role, kind, word
)

select
    places.corpus_id,
    places.release,
    places.split,
    places.standard_split,
    in_dialogues.language,
    in_dialogues.role,
    in_dialogues.kind,
    in_dialogues.word,
    length(in_dialogues.word) as letter_count,
    sum(in_dialogues.use_count)::bigint as use_count,
    sum(in_dialogues.turn_count)::bigint as turn_count,
from in_dialogues
inner join places
    on places.corpus_id = in_dialogues.corpus_id and places.dialogue_id = in_dialogues.dialogue_id
group by
    places.corpus_id,
    places.release,
    places.split,
    places.standard_split,
    in_dialogues.language,
    in_dialogues.role,
    in_dialogues.kind,
    in_dialogues.word
