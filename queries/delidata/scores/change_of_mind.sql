-- The predicted and the published sign of the step in performance with each message; + is the positive class.
-- predicts: label, score?
-- labels: +, -, 0
-- metrics: metrics.classification, delidata.average_precision, delidata.average_precision_by_group
-- official: none
-- oracle: label, (label = '+')::integer as score
-- remark: no metric is official: the authors' label and cutoff are not published
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    gold.label as gold,
    predicted.label as label,
    predicted.score,
    gold.label = '+' as is_positive,
    '+' as positive,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
