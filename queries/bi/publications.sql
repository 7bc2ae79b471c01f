-- Each publication of a dialogue: once for each file or folder of a publisher's release and split that has it.
-- grain: record_id
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   record_id: The record that publishes the dialogue; where several records of one subset are about it, the first. A file that occurs twice counts once; records without a split count only for a dialogue of which no record has one.
--   is_default: True in the default publication of the dialogue: filter by it to count a dialogue once that several of the publisher's releases have.
--   is_first_in_split: True in one row of each dialogue within publisher's release and split: filter by it to count a dialogue once that several subsets of a split have.
with
published as (
    select
        corpus_id,
        dialogue_id,
        release,
        split,
        subset,
        min(standard_split) as standard_split,
        min_by(record_id, (record_index, record_id)) as record_id,
    from main.records
    where dialogue_id is not null and extra ->> 'repeats' is null
    group by corpus_id, dialogue_id, release, split, subset
),

placed as (
    select
        *,
        row_number() over (partition by corpus_id, dialogue_id, release, split order by subset) as place_in_split,
        max(split) over (partition by corpus_id, dialogue_id) as some_split,
    from published
)

select
    placed.corpus_id,
    placed.release,
    placed.split,
    placed.standard_split,
    placed.subset,
    placed.record_id,
    placed.dialogue_id,
    placed.place_in_split = 1 as is_first_in_split,
    coalesce(default_releases.release = placed.release, default_releases.release is null) as is_default,
from placed
left join bi.default_releases on default_releases.dialogue_id = placed.dialogue_id
where placed.split is not null or placed.some_split is null
