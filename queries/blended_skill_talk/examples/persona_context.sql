-- Every episode in which both workers have two persona sentences, in the order of files.
-- grain: release, split, example_index
select
    null::varchar as release,
    records.split,
    row_number() over (partition by records.split order by records.record_index) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    null::integer as turn_index,
from main.records
semi join main.persona_uses
    on persona_uses.record_id = records.record_id
    and persona_uses.persona_set = 'free'
    and persona_uses.position = 1
where records.corpus_id = 'blended_skill_talk'
    and records.dialogue_id is not null
    and records.extra ->> 'repeats' is null
order by records.split, example_index
