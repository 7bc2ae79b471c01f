-- Annotated system turns with at least one label O, T or X, in the order of files and turns.
-- grain: release, split, example_index
with
voted as (
    select distinct record_id, turn_index
    from main.annotations
    where scheme = 'dbdc3.breakdown' and label in ('O', 'T', 'X')
)
select
    records.release,
    records.split,
    row_number() over (
        partition by records.release, records.split
        order by records.source_file_id, voted.turn_index
    ) - 1 as example_index,
    records.record_id,
    records.dialogue_id,
    voted.turn_index,
from voted
inner join main.records on records.record_id = voted.record_id
inner join main.turns
    on turns.dialogue_id = records.dialogue_id and turns.turn_index = voted.turn_index
where turns.role <> 'user'
    -- A file that is there twice (packed and unpacked, say) is one publication.
    and records.extra ->> 'repeats' is null
order by records.release, records.split, example_index
