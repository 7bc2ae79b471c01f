-- The predicted and the published act of each call.
-- predicts: label
-- scheme: radio_calls.act
-- metrics: radio_calls.hits
-- official: hits
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
