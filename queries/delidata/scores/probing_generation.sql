-- How near each generated probing message comes to the published one, as ParlAI compares texts.
-- predicts: text?
-- metrics: metrics.text, metrics.letters
-- official: none
-- oracle: probing as text
-- remark: no metric is official: the authors evaluate two generators, and what their tables hold is not published as code
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    metrics.normalised(case when predicted.is_missing then '' else predicted.text end) as guess,
    metrics.normalised(gold.probing) as answer,
from predicted
inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
