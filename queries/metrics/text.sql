-- How near a text comes to the right one, as ParlAI compares them; who says nothing is left out of the means.
select
    slice,
    [
        metrics.count_of('exs', true, count(*)),
        metrics.mean('accuracy', true, (guess = answer)::integer),
        metrics.mean('precision', true, precision_value),
        metrics.mean('recall', true, recall_value),
        metrics.mean('f1', true, f1_value),
        metrics.mean('bleu-4', true, bleu_4),
        metrics.mean('bleu-1', false, bleu_1),
        metrics.mean('bleu-2', false, bleu_2),
        metrics.mean('bleu-3', false, bleu_3)
    ] as results,
from (
    select
        *,
        metrics.shared_words(metrics.words(guess), metrics.words(answer))::double as shared,
        case when guess is null then null when shared = 0 then 0.0 else shared / len(metrics.words(guess)) end
            as precision_value,
        case when guess is null then null when shared = 0 then 0.0 else shared / len(metrics.words(answer)) end
            as recall_value,
        case
            when guess is null then null
            when shared = 0 then 0.0
            else 2 * precision_value * recall_value / (precision_value + recall_value)
        end as f1_value,
    from sliced
)
group by slice
