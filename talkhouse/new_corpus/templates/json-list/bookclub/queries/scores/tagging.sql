-- The predicted and the published tags of each utterance.
-- predicts: labels
-- metrics: bookclub.overlap
-- oracle: tags as labels
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    list_distinct(gold.tags) as gold,
    list_distinct(coalesce(predicted.labels, [])) as labels,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
