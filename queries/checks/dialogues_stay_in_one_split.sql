-- A dialogue is in one split of a release only: no leak from training to test.
-- severity: warn
-- remedy: Leave one of the two out when you train; a leak that is meant belongs into the corpus's declaration.
with
places as (
    select distinct corpus_id, dialogue_id, release, split
    from main.records
    where dialogue_id is not null and split is not null
),

leaks as (
    select
        corpus_id,
        dialogue_id,
        release,
        string_agg(split, '/' order by split) as splits,
    from places
    group by corpus_id, dialogue_id, release
    having count(*) > 1
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
