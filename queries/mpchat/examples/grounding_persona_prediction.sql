-- Every message of the main author with a gold persona element, in the order of the file; refused ones are left out.
-- grain: release, split, example_index
with
refused as (
    select record_id, turn_index
    from meta.findings
    where corpus_id = 'mpchat' and task = 'grounding_persona_prediction' and severity = 'reject_example'
)

select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, records.record_index, turns.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    turns.turn_index,
from main.records
inner join main.turns
    on turns.dialogue_id = records.dialogue_id and turns.speaker_id = records.main_speaker_id
semi join main.persona_uses
    on persona_uses.record_id = records.record_id
    and persona_uses.turn_index = turns.turn_index
    and persona_uses.persona_set = 'gpp_gold'
anti join refused
    on refused.record_id = records.record_id and refused.turn_index = turns.turn_index
where records.corpus_id = 'mpchat'
    -- If a file is there twice, the first counts.
    and records.extra ->> 'repeats' is null
    and records.subset = 'gpp'
order by records.release, records.split, example_index
