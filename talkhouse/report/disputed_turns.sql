-- Rounded: threads add up in any order, and turns with the same votes would differ in the last digits.
with disputed as (
    select corpus_id, dialogue_id, turn_index, scheme, round(entropy, 9) as bits,
    from bi.turn_agreement
    where is_default and turn_index is not null and entropy > 0
)

select
    corpus_id, dialogue_id, turn_index, scheme, bits,
    count(*) over (partition by corpus_id, scheme, bits) as tied_count,
from disputed
qualify row_number() over (partition by corpus_id order by bits desc, dialogue_id, turn_index, scheme) = 1
