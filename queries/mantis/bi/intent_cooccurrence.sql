-- MANtIS: how often two intents are given to the same utterance.
-- grain: release, split, intent, other_intent
-- terms: none
--   corpus_id: mantis.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   intent: Code of an intent, verbatim.
--   other_intent: Code of another one; each pair occurs once, the earlier in the order of characters first.
--   both_count: Utterances that have both; a pair that occurs in one split has a row in each, so that counts of a pair may be added up over splits.
--   intent_count: Utterances that have the one.
--   other_intent_count: Utterances that have the other.
--   either_count: Utterances that have the one, the other or both.
--   overlap: both_count by either_count (Jaccard index), 0 to 1; null where either_count is 0.
with
given as (
    select
        records.corpus_id,
        records.release,
        records.split,
        records.standard_split,
        utterance_intents.dialogue_id,
        utterance_intents.turn_index,
        unnest(list_distinct(utterance_intents.intents)) as intent,
    from mantis.utterance_intents
    inner join main.records on records.record_id = utterance_intents.record_id
),

counts as (
    select release, split, intent, count(*) as utterance_count
    from given
    group by release, split, intent
),

pairs as (
    select
        one.release,
        one.split,
        one.intent,
        other.intent as other_intent,
        count(*) as both_count,
    from given as one
    inner join given as other
        on other.release is not distinct from one.release
        and other.split is not distinct from one.split
        and other.dialogue_id = one.dialogue_id
        and other.turn_index = one.turn_index
        and other.intent > one.intent
    group by one.release, one.split, one.intent, other.intent
),

places as (
    select distinct corpus_id, release, split, standard_split
    from given
),

occurring as (
    select distinct intent, other_intent
    from pairs
),

counted as (
    select
        places.corpus_id,
        places.release,
        places.split,
        places.standard_split,
        occurring.intent,
        occurring.other_intent,
        coalesce(pairs.both_count, 0) as both_count,
        coalesce(counts.utterance_count, 0) as intent_count,
        coalesce(other_counts.utterance_count, 0) as other_intent_count,
    from places
    cross join occurring
    left join pairs
        on pairs.release is not distinct from places.release
        and pairs.split is not distinct from places.split
        and pairs.intent = occurring.intent
        and pairs.other_intent = occurring.other_intent
    left join counts
        on counts.release is not distinct from places.release
        and counts.split is not distinct from places.split
        and counts.intent = occurring.intent
    left join counts as other_counts
        on other_counts.release is not distinct from places.release
        and other_counts.split is not distinct from places.split
        and other_counts.intent = occurring.other_intent
)

select
    corpus_id,
    release,
    split,
    standard_split,
    intent,
    other_intent,
    both_count,
    intent_count,
    other_intent_count,
    intent_count + other_intent_count - both_count as either_count,
    both_count / nullif(intent_count + other_intent_count - both_count, 0) as overlap,
from counted
