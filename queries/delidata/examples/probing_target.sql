-- Messages of the type Probing, in the order of files and rows.
-- grain: release, split, example_index
with
refused as (
    select record_id, turn_index
    from meta.findings
    where corpus_id = 'delidata' and severity = 'reject_example'
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, turns.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    turns.turn_index,
from main.records
inner join main.turns on turns.dialogue_id = records.dialogue_id
inner join main.speakers on speakers.speaker_id = turns.speaker_id
inner join main.annotations
    on annotations.record_id = records.record_id
    and annotations.turn_index = turns.turn_index
    and annotations.scheme = 'delidata.type'
    and annotations.label = 'Probing'
anti join refused
    on refused.record_id = records.record_id
    and coalesce(refused.turn_index, turns.turn_index) = turns.turn_index
where records.corpus_id = 'delidata'
    and turns.kind = 'message'
    and speakers.name <> 'Moderating Owl'
order by records.release, records.split, example_index
