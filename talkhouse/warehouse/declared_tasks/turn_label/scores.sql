-- The predicted label of each example and that of most annotators.
-- predicts: label$known_labels
-- metrics: metrics.classification
-- official: none
-- oracle: coalesce(label, labels[1]) as label
-- remark: $remark; examples on which no label has more than half of the votes are not scored
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    gold.label as gold,
    predicted.label,
from predicted
inner join gold
    on gold.example_index = predicted.example_index
    and gold.split = predicted.split
    and gold.release is not distinct from predicted.release
where gold.label is not null
