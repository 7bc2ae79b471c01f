-- Each publication of a dialogue: once for each file or folder of a release and split that has it.
-- grain: record_id
--   corpus_id: Corpus of the dialogue.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   record_id: The record that publishes the dialogue; where several records of one subset are about it, the first. A file that occurs twice counts once; records without a split count only for a dialogue of which no record has one.
--   is_default: True in the default publication of the dialogue: filter by it to count a dialogue once that several releases have.
--   is_first_in_split: True in one row of each dialogue within release and split: filter by it to count a dialogue once that several subsets of a split have.
select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    records.record_id,
    records.dialogue_id,
    row_number() over (
        partition by records.corpus_id, records.dialogue_id, records.release, records.split
        order by records.subset, records.record_index, records.record_id
    ) = 1 as is_first_in_split,
    records.release is not distinct from coalesce(default_releases.release, records.release) as is_default,
from main.records
left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
where records.dialogue_id is not null and records.extra ->> 'repeats' is null
qualify row_number() over (
        partition by records.corpus_id, records.dialogue_id, records.release, records.split, records.subset
        order by records.record_index, records.record_id
    ) = 1
    and (
        records.split is not null
        or max(records.split) over (partition by records.corpus_id, records.dialogue_id) is null
    )
