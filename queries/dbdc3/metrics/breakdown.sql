-- What the challenge's script prints, by its names; a label that is not O, T or X is wrong, and leaves the counts of gold labels and the recalls.
with
ratios as (
    select
        *,
        label = gold as is_right,
        label = 'X' as says_x,
        label in ('T', 'X') as says_tx,
        gold = 'X' and is_declared as is_x,
        lenient = 'X_l' and is_declared as is_tx,
        lenient = 'X_l' and label in ('T', 'X') as is_right_tx,
    from sliced
)

select
    slice,
    [
        metrics.count_of('File Num', true, count(distinct dialogue_id)),
        metrics.count_of('System Utterance Num', true, count(*)),
        metrics.count_of('O Label Num', true, count_if(gold = 'O' and is_declared)),
        metrics.count_of('T Label Num', true, count_if(gold = 'T' and is_declared)),
        metrics.count_of('X Label Num', true, count_if(gold = 'X' and is_declared)),
        metrics.share('Accuracy', true, count_if(is_right), count(*)),
        metrics.share('Precision (X)', true, count_if(is_right and says_x), count_if(says_x)),
        metrics.share('Recall (X)', true, count_if(is_right and says_x), count_if(is_x)),
        metrics.value(
            'F-measure (X)',
            true,
            metrics.f_measure(count_if(is_right and says_x), count_if(says_x), count_if(is_x)),
            count(*)
        ),
        metrics.share('Precision (T+X)', true, count_if(is_right_tx), count_if(says_tx)),
        metrics.share('Recall (T+X)', true, count_if(is_right_tx), count_if(is_tx)),
        metrics.value(
            'F-measure (T+X)',
            true,
            metrics.f_measure(count_if(is_right_tx), count_if(says_tx), count_if(is_tx)),
            count(*)
        ),
        metrics.mean('JS divergence (O,T,X)', true, jsd_o_t_x),
        metrics.mean('JS divergence (O,T+X)', true, jsd_o_tx),
        metrics.mean('JS divergence (O+T,X)', true, jsd_ot_x),
        metrics.mean('Mean squared error (O,T,X)', true, mse_o_t_x),
        metrics.mean('Mean squared error (O,T+X)', true, mse_o_tx),
        metrics.mean('Mean squared error (O+T,X)', true, mse_ot_x)
    ] as results,
from ratios
group by slice
