-- Every dialogue, in the order of the file; refused ones are left out.
-- grain: release, split, example_index
with
refused as (
    select record_id
    from meta.findings
    where corpus_id = 'mpchat' and task = 'speaker_identification' and severity = 'reject_example'
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, records.record_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    null::integer as turn_index,
from main.records
anti join refused on refused.record_id = records.record_id
where records.corpus_id = 'mpchat'
    -- If a file is there twice, the first counts.
    and records.extra ->> 'repeats' is null
    and records.subset = 'si'
order by records.release, records.split, example_index
