-- Each publication of a dialogue: once for each file or folder of a release and split that has it.
-- grain: record_id
--   corpus_id: Corpus of the dialogue.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   record_id: The record that publishes the dialogue; where several records of one subset are about it, the first. A file that occurs twice counts once; records without a split count only for a dialogue of which no record has one.
--   is_first_in_split: True in one row of each dialogue within release and split: filter by it to count a dialogue once that several subsets of a split have.
select
    corpus_id,
    release,
    split,
    standard_split,
    subset,
    record_id,
    dialogue_id,
    row_number() over (
        partition by corpus_id, dialogue_id, release, split
        order by subset, record_index, record_id
    ) = 1 as is_first_in_split,
from main.records
where dialogue_id is not null and extra ->> 'repeats' is null
qualify row_number() over (
        partition by corpus_id, dialogue_id, release, split, subset
        order by record_index, record_id
    ) = 1
    and (split is not null or max(split) over (partition by corpus_id, dialogue_id) is null)
