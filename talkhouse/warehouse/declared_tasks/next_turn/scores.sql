-- How near each generated turn comes to the one that was said, as ParlAI compares texts.
-- predicts: text?
-- metrics: metrics.text, metrics.letters
-- official: none
-- oracle: response as text
-- remark: $remark
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    metrics.normalised(case when predicted.is_missing then '' else predicted.text end) as guess,
    metrics.normalised(gold.response) as answer,
from predicted
inner join gold
    on gold.example_index = predicted.example_index
    and gold.split = predicted.split
    and gold.release is not distinct from predicted.release
