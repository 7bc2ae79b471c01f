-- As metrics.text, but each letter of a script without spaces (Chinese, Japanese, Thai ...) is a word; nothing where no answer has one.
with
cut as (
    select *, metrics.words(guess_letters) as said, metrics.words(answer_letters) as meant,
    from sliced
    where guess_letters is not null
),

paired as (
    select
        *,
        list_transform(range(1, len(said)), lambda place: said[place] || ' ' || said[place + 1]) as pairs,
        metrics.shared_words(said, meant)::bigint as shared,
    from cut
)

select
    slice,
    [
        metrics.mean('f1 (letters)', false, metrics.f_measure(shared, len(said), len(meant))),
        metrics.mean('bleu-4 (letters)', false, bleu_4_letters),
        metrics.mean('precision (letters)', false, case when shared > 0 then shared::double / len(said) else 0 end),
        metrics.mean('recall (letters)', false, case when shared > 0 then shared::double / len(meant) else 0 end),
        metrics.mean('bleu-1 (letters)', false, bleu_1_letters),
        metrics.mean('bleu-2 (letters)', false, bleu_2_letters),
        metrics.mean('bleu-3 (letters)', false, bleu_3_letters),
        metrics.value('interdistinct-1 (letters)', false, metrics.distinct(flatten(list(said))), count(*)),
        metrics.value('interdistinct-2 (letters)', false, metrics.distinct(flatten(list(pairs))), count(*)),
        metrics.mean('intradistinct-1 (letters)', false, metrics.distinct(said)),
        metrics.mean('intradistinct-2 (letters)', false, metrics.distinct(pairs))
    ] as results,
from paired
group by slice
