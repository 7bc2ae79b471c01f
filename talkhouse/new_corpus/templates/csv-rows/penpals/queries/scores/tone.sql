-- The predicted and the published tone of each letter.
-- predicts: label
-- scheme: penpals.tone
-- metrics: metrics.classification
-- oracle: label
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    gold.label as gold,
    predicted.label,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
