-- The predicted and the published outcome of each group; a gain is the positive class, and the authors join same and loss.
-- predicts: label, score?
-- labels: gain, same, loss
-- metrics: delidata.binary, metrics.classification, delidata.average_precision, delidata.average_precision_by_group
-- official: ROC AUC, accuracy (gain)
-- oracle: label, (label = 'gain')::integer as score
-- remark: the authors' gold comes from raw dumps and differs from the published groups on 18 of them, so compare with care
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    gold.label as gold,
    predicted.label as label,
    predicted.score,
    gold.label = 'gain' as is_positive,
    'gain' as positive,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
