-- How near a text comes to the right one, as ParlAI compares them, and how varied the texts are, all together (inter) and each (intra); who says nothing is left out of the means.
with
spoken as (
    select *, metrics.words(guess) as said, metrics.words(answer) as meant, from sliced
),

-- Each in its own step: a column that another of the same SELECT names is computed again for it.
paired as (
    select
        *,
        list_transform(range(1, len(said)), lambda place: said[place] || ' ' || said[place + 1]) as pairs,
        metrics.shared_words(said, meant)::double as shared,
    from spoken
),

rated as (
    select
        *,
        case when guess is null then null when shared = 0 then 0.0 else shared / len(said) end as precision_value,
        case when guess is null then null when shared = 0 then 0.0 else shared / len(meant) end as recall_value,
        case
            when guess is null then null
            when shared = 0 then 0.0
            else 2 * precision_value * recall_value / (precision_value + recall_value)
        end as f1_value,
    from paired
)

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
        metrics.mean('bleu-3', false, bleu_3),
        metrics.value(
            'interdistinct-1', false, metrics.distinct(flatten(list(said) filter (where guess is not null))), count(guess)
        ),
        metrics.value(
            'interdistinct-2', false, metrics.distinct(flatten(list(pairs) filter (where guess is not null))), count(guess)
        ),
        metrics.mean('intradistinct-1', false, metrics.distinct(said)),
        metrics.mean('intradistinct-2', false, metrics.distinct(pairs))
    ] as results,
from rated
group by slice
