-- Every answer of a guided worker, in the order of files and turns; the examples of guided_response again.
-- grain: release, split, example_index
select
    null::varchar as release,
    records.split,
    row_number() over (
        partition by records.split
        order by records.record_index, turns.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    turns.turn_index,
from main.records
inner join main.turns on turns.dialogue_id = records.dialogue_id
where records.corpus_id = 'blended_skill_talk'
    and records.subset = 'episodes'
    -- If a file is there twice, the first counts.
    and records.extra ->> 'repeats' is null
    and turns.kind = 'message'
    and turns.role = 'guided'
order by records.split, example_index
