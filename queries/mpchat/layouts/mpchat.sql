-- An array of scores, one row per example in the view's order and one column per candidate.
-- reads: score_rows
-- tasks: next_response_prediction, grounding_persona_prediction, speaker_identification
select keys.release, keys.split, keys.example_index, score_rows.scores, 'row ' || score_rows.row_index as key
from score_rows
left join (select *, row_number() over (order by release, split, example_index) - 1 as row_index from keys) as keys
    on keys.row_index = score_rows.row_index
