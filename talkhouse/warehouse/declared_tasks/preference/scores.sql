-- Which answer of each pair the predicted scores prefer, first that of the chosen one, then that of the rejected one.
-- predicts: scores
-- metrics: metrics.preference
-- official: none
-- oracle: [1.0::double, 0.0::double] as scores
-- counts: 2
-- remark: $remark; of two equal scores either may be preferred, so that a pair counts as half right
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    metrics.list_problem(predicted.scores, 2) as problem,
    metrics.above(predicted.scores, 0) as above,
    metrics.tied(predicted.scores, 0) as tied,
    2 as candidates,
from predicted
inner join gold
    on gold.example_index = predicted.example_index
    and gold.split = predicted.split
    and gold.release is not distinct from predicted.release
