-- The predicted and the published target of each message of (non-)probing deliberation.
-- tasks: probing_target, nonprobing_target
-- predicts: label
-- scheme: delidata.target
-- metrics: metrics.classification
-- oracle: label
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    gold.label as gold,
    predicted.label as label,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
