-- What each annotated system turn scores: the predicted label and distribution against those of the annotators.
-- predicts: label, prob_o, prob_t, prob_x
-- labels: O, T, X
-- metrics: dbdc3.breakdown
-- lower: JS divergence, Mean squared error
-- thresholds: 0.0, 0.5
-- by: subset
-- oracle: dbdc3.strict_label(prob_o, prob_t, prob_x, getvariable('threshold')) as label, prob_o, prob_t, prob_x
with
compared as (
    select
        predicted.*,
        dbdc3.strict_label(gold.prob_o, gold.prob_t, gold.prob_x, getvariable('threshold')) as gold,
        dbdc3.lenient_label(gold.prob_o, gold.prob_t, gold.prob_x, getvariable('threshold')) as lenient,
        [gold.prob_o, gold.prob_t, gold.prob_x] as gold_o_t_x,
        [gold.prob_o, gold.prob_t + gold.prob_x] as gold_o_tx,
        [gold.prob_o + gold.prob_t, gold.prob_x] as gold_ot_x,
        [predicted.prob_o, predicted.prob_t, predicted.prob_x] as o_t_x,
        [predicted.prob_o, predicted.prob_t + predicted.prob_x] as o_tx,
        [predicted.prob_o + predicted.prob_t, predicted.prob_x] as ot_x,
    from predicted
    inner join gold
        on gold.example_index = predicted.example_index
        and gold.split = predicted.split
        and gold.release = predicted.release
),

possible as (
    select
        *,
        len(
            list_filter(
                list_zip(gold_o_t_x || gold_o_tx || gold_ot_x, o_t_x || o_tx || ot_x),
                lambda pair: (pair[1] > 0 or pair[2] > 0) and pair[1] + pair[2] <= 0
            )
        ) > 0 as is_undefined,
    from compared
)

select
    release,
    split,
    example_index,
    record_id,
    dialogue_id,
    gold,
    lenient,
    label,
    is_missing or label in ('O', 'T', 'X') as is_declared,
    case when is_undefined then 'a probability below 0 takes the divergence to the logarithm of a negative number' end
        as problem,
    -- A missing prediction has the worst values that a distribution can have.
    case when is_missing then 1.0 when not is_undefined then dbdc3.divergence(gold_o_t_x, o_t_x) end as jsd_o_t_x,
    case when is_missing then 1.0 when not is_undefined then dbdc3.divergence(gold_o_tx, o_tx) end as jsd_o_tx,
    case when is_missing then 1.0 when not is_undefined then dbdc3.divergence(gold_ot_x, ot_x) end as jsd_ot_x,
    case when is_missing then 2.0::double / 3 else dbdc3.squared_error(gold_o_t_x, o_t_x) end as mse_o_t_x,
    case when is_missing then 1.0 else dbdc3.squared_error(gold_o_tx, o_tx) end as mse_o_tx,
    case when is_missing then 1.0 else dbdc3.squared_error(gold_ot_x, ot_x) end as mse_ot_x,
from possible
