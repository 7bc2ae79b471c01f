-- Where the right candidate stands among those of each example, by the predicted scores.
-- predicts: scores
-- metrics: metrics.ranking
-- oracle: list_transform(range(len(candidate_ids)), lambda place: (place = gold_position)::integer::double) as scores
-- counts: len(candidate_ids)
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    metrics.list_problem(predicted.scores, len(gold.candidate_ids)) as problem,
    metrics.above(predicted.scores, gold.gold_position) as above,
    metrics.tied(predicted.scores, gold.gold_position) as tied,
    len(gold.candidate_ids) as candidates,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
