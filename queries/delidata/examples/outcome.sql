-- Every group whose first and last performance are known, in the order of files.
-- grain: release, split, example_index
with
refused as (
    select record_id
    from meta.findings
    where corpus_id = 'delidata' and severity = 'reject_example' and turn_index is null
),

ends as (
    select
        dialogue_id,
        min(turn_index) as first_index,
        max(turn_index) as last_index,
    from main.turns
    where starts_with(dialogue_id, 'delidata:')
    group by dialogue_id
),

known as (
    select record_id, turn_index
    from main.annotations
    where scheme = 'delidata.team_performance' and value between 0 and 1
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    null::integer as turn_index,
from main.records
inner join ends on ends.dialogue_id = records.dialogue_id
semi join known on known.record_id = records.record_id and known.turn_index = ends.first_index
semi join known as known_last
    on known_last.record_id = records.record_id and known_last.turn_index = ends.last_index
anti join refused on refused.record_id = records.record_id
where records.corpus_id = 'delidata'
order by records.release, records.split, example_index
