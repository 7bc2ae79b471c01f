-- MANtIS: how often two intents are given to the same utterance.
-- grain: split, intent, other_intent
--   split: Split, by the publisher's own name.
--   intent: Code of an intent, verbatim.
--   other_intent: Code of another one; each pair occurs once, the earlier in the order of characters first.
--   both_count: Utterances that have both.
--   intent_count: Utterances that have the one.
--   other_intent_count: Utterances that have the other.
--   overlap: both_count by how many have the one, the other or both (Jaccard index), 0 to 1.
with
given as (
    select
        split,
        standard_split,
        dialogue_id,
        turn_index,
        unnest(list_distinct(intents)) as intent,
    from mantis.utterance_intents
),

counts as (
    select split, intent, count(*) as utterance_count
    from given
    group by split, intent
),

pairs as (
    select
        one.split,
        one.standard_split,
        one.intent,
        other.intent as other_intent,
        count(*) as both_count,
    from given as one
    inner join given as other
        on other.split = one.split
        and other.dialogue_id = one.dialogue_id
        and other.turn_index = one.turn_index
        and other.intent > one.intent
    group by one.split, one.standard_split, one.intent, other.intent
)

select
    pairs.split,
    pairs.standard_split,
    pairs.intent,
    pairs.other_intent,
    pairs.both_count,
    counts.utterance_count as intent_count,
    other_counts.utterance_count as other_intent_count,
    pairs.both_count / (counts.utterance_count + other_counts.utterance_count - pairs.both_count) as overlap,
from pairs
inner join counts on counts.split = pairs.split and counts.intent = pairs.intent
inner join counts as other_counts
    on other_counts.split = pairs.split and other_counts.intent = pairs.other_intent
