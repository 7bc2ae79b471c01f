-- Whether each mood is right.
-- predicts: label
-- labels: +, -
-- metrics: toy.moods
-- official: accuracy
-- oracle: label
select
    predicted.release, predicted.split, predicted.example_index, predicted.record_id, predicted.dialogue_id,
    predicted.label = gold.label as is_right,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
