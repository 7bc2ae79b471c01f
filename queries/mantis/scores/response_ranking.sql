-- Where the true response stands among the lines of each block, by the predicted scores; a row is a block, by the line of its true response.
-- tasks: response_ranking_10, response_ranking_50
-- predicts: score
-- metrics: mantis.ranking
-- doubt: map > 0.99: it has come from artefacts of quoting, which gave the true response away: look at some lines with --examples
-- oracle: label as score
with
blocks as (
    select
        predicted.split,
        blocks.record_id,
        blocks.row_count,
        predicted.example_index,
        predicted.dialogue_id,
        predicted.score as gold_score,
    from mantis.ranking_blocks as blocks
    inner join main.candidates as gold on gold.record_id = blocks.record_id and gold.is_gold
    inner join predicted
        on predicted.record_id = blocks.record_id and predicted.example_index = blocks.first_example + gold.position
)

select
    null::varchar as release,
    blocks.split,
    blocks.example_index,
    blocks.record_id,
    any_value(blocks.dialogue_id) as dialogue_id,
    blocks.row_count as candidates,
    case when not bool_or(predicted.is_missing) then count_if(predicted.score > blocks.gold_score) end as above,
    case when not bool_or(predicted.is_missing) then count_if(predicted.score = blocks.gold_score) end as tied,
    -- Of the first 10 and the first 2 lines alone, as later papers of the author count.
    count_if(predicted.score > blocks.gold_score and predicted.example_index < blocks.example_index + 10) as above_10,
    count_if(predicted.score = blocks.gold_score and predicted.example_index < blocks.example_index + 10) as tied_10,
    count_if(predicted.score > blocks.gold_score and predicted.example_index < blocks.example_index + 2) as above_2,
    count_if(predicted.score = blocks.gold_score and predicted.example_index < blocks.example_index + 2) as tied_2,
from predicted
inner join blocks on blocks.record_id = predicted.record_id
group by blocks.split, blocks.example_index, blocks.record_id, blocks.row_count
