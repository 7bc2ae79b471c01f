-- The predicted and the published type of each message; None and 0 are one class, as in the reference classifier.
-- predicts: label
-- labels: Probing, Non-probing-deliberation, None, 0
-- metrics: metrics.classification
-- oracle: label
-- published: None and 0 are two classes
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    case when gold.label = 'None' and not getvariable('as_published') then '0' else gold.label end as gold,
    case when predicted.label = 'None' and not getvariable('as_published') then '0' else predicted.label end as label,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
