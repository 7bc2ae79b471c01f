-- The predicted and the published mood of each utterance; + is the positive class.
-- predicts: label
-- scheme: teatime.mood
-- metrics: teatime.kappa, metrics.classification
-- official: kappa
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
