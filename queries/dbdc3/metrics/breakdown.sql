-- What the challenge's script prints, by its names, and beside it the other classes, recall over all rows and the confusion matrix; a label that is not O, T or X is wrong, and leaves the script's counts of gold labels and its recalls.
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
        metrics.mean('Mean squared error (O+T,X)', true, mse_ot_x),
        metrics.share('Precision (O)', false, count_if(is_right and label = 'O'), count_if(label = 'O')),
        metrics.share('Recall (O)', false, count_if(is_right and label = 'O'), count_if(gold = 'O')),
        metrics.value(
            'F-measure (O)',
            false,
            metrics.f_measure(count_if(is_right and label = 'O'), count_if(label = 'O'), count_if(gold = 'O')),
            count(*)
        ),
        metrics.share('Precision (T)', false, count_if(is_right and label = 'T'), count_if(label = 'T')),
        metrics.share('Recall (T)', false, count_if(is_right and label = 'T'), count_if(gold = 'T')),
        metrics.value(
            'F-measure (T)',
            false,
            metrics.f_measure(count_if(is_right and label = 'T'), count_if(label = 'T'), count_if(gold = 'T')),
            count(*)
        ),
        metrics.share('Recall (X) of all rows', false, count_if(is_right and says_x), count_if(gold = 'X')),
        metrics.share('Recall (T+X) of all rows', false, count_if(is_right_tx), count_if(lenient = 'X_l')),
        metrics.count_of('Gold O, predicted O', false, count_if(gold = 'O' and label = 'O')),
        metrics.count_of('Gold O, predicted T', false, count_if(gold = 'O' and label = 'T')),
        metrics.count_of('Gold O, predicted X', false, count_if(gold = 'O' and label = 'X')),
        metrics.count_of('Gold T, predicted O', false, count_if(gold = 'T' and label = 'O')),
        metrics.count_of('Gold T, predicted T', false, count_if(gold = 'T' and label = 'T')),
        metrics.count_of('Gold T, predicted X', false, count_if(gold = 'T' and label = 'X')),
        metrics.count_of('Gold X, predicted O', false, count_if(gold = 'X' and label = 'O')),
        metrics.count_of('Gold X, predicted T', false, count_if(gold = 'X' and label = 'T')),
        metrics.count_of('Gold X, predicted X', false, count_if(gold = 'X' and label = 'X')),
        metrics.count_of('Predicted other or nothing', false, count_if(label is null or label not in ('O', 'T', 'X')))
    ] as results,
from ratios
group by slice
