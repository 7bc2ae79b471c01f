-- No two dialogues of a publisher's release have the same words in different splits.
-- severity: warn
-- remedy: Leave one of the two out when you train; a repetition that is meant belongs into the corpus's declaration. For near ones: talkhouse overlap.
with
split_corpora as (
    -- Where no corpus has several splits, no text needs to be read.
    select corpus_id
    from main.records
    where split is not null
    group by corpus_id
    having count(distinct split) > 1
),

words as (
    select
        dialogue_id,
        hash(list(hash(text) order by turn_index)) as words_hash,
    from main.turns
    semi join split_corpora on split_corpora.corpus_id = split_part(turns.dialogue_id, ':', 1)
    group by dialogue_id
),

places as (
    select distinct
        records.corpus_id,
        records.release,
        records.split,
        records.dialogue_id,
        words.words_hash,
    from main.records
    inner join words on words.dialogue_id = records.dialogue_id
    where records.split is not null
),

repeated as (
    select
        corpus_id,
        release,
        min(dialogue_id) as dialogue_id,
        max(dialogue_id) as other_dialogue_id,
        string_agg(distinct split, '/' order by split) as splits,
    from places
    group by corpus_id, release, words_hash
    having count(distinct split) > 1 and count(distinct dialogue_id) > 1
)

select
    repeated.corpus_id,
    repeated.dialogue_id,
    repeated.splits,
    repeated.other_dialogue_id || ' says the same as ' || repeated.dialogue_id || ', in ' || repeated.splits as detail,
from repeated
anti join meta.exceptions
    on exceptions.corpus_id = repeated.corpus_id
    and exceptions.check_name = 'no_talk_is_repeated_in_another_split'
    and exceptions.scope = repeated.splits
