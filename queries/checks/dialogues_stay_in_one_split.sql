-- A dialogue is in one split of a publisher's release only: no leak from training to test.
-- severity: warn
-- remedy: Leave one of the two out when you train; a leak that is meant belongs into the corpus's declaration. For near ones: talkhouse overlap.
with
placed as (
    select corpus_id, dialogue_id, release, split
    from main.records
    where dialogue_id is not null and split is not null
),

leaking as (
    select corpus_id, dialogue_id, release
    from placed
    group by corpus_id, dialogue_id, release
    having min(split) < max(split)
),

leaks as (
    -- Their splits are listed only here: for all dialogues it would take five times as long.
    select
        placed.corpus_id,
        placed.dialogue_id,
        placed.release,
        string_agg(distinct placed.split, '/' order by placed.split) as splits,
    from placed
    inner join leaking
        on leaking.corpus_id = placed.corpus_id
        and leaking.dialogue_id = placed.dialogue_id
        and leaking.release is not distinct from placed.release
    group by placed.corpus_id, placed.dialogue_id, placed.release
)

select
    leaks.corpus_id,
    leaks.dialogue_id,
    leaks.splits,
    leaks.dialogue_id || ' is in the splits ' || leaks.splits as detail,
from leaks
anti join meta.exceptions
    on exceptions.corpus_id = leaks.corpus_id
    and exceptions.check_name = 'dialogues_stay_in_one_split'
    and exceptions.scope = leaks.splits
