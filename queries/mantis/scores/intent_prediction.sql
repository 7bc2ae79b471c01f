-- The predicted and the published intents of each utterance; a predicted code that no utterance scored here has is left out, as in the authors' script.
-- predicts: labels
-- scheme: mantis.intent
-- metrics: mantis.intents
-- pooled: the authors' folds are drawn from all splits together
-- oracle: intents as labels
with
pairs as (
    select
        predicted.release,
        predicted.split,
        predicted.example_index,
        predicted.record_id,
        predicted.dialogue_id,
        list_distinct(gold.intents) as gold,
        list_distinct(coalesce(predicted.labels, [])) as labels,
    from predicted
    inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
)

select
    pairs.* exclude (labels),
    list_intersect(pairs.labels, known.classes) as labels,
    list_intersect(pairs.labels, pairs.gold) as hits,
from pairs
cross join (select list_distinct(flatten(list(gold))) as classes from pairs) as known
