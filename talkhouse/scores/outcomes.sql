with lengths as (
    select dialogue_id, count(*) as turns
    from main.turns where dialogue_id in (select dialogue_id from ${first}) group by dialogue_id
)
select
    ${task} as task, ${kind} as kind, ${outcome} as outcome,
    first.* exclude (gold, said, is_right, sure, rank, best, f1, candidates),
    examples.turn_index, examples.item_index, records.subset, dialogues.language, dialogues.domain,
    lengths.turns, len(turns.text) as characters, ${of_sides} ${gold} as gold, first.candidates
from ${first} as first
inner join ${second} as second on ${same}
inner join main.examples
    on examples.corpus_id = ${corpus} and examples.task = ${view}
    and examples.release is not distinct from first.release and examples.split = first.split
    and examples.example_index = first.example_index and examples.record_id = first.record_id
inner join main.records on records.record_id = first.record_id
left join main.dialogues on dialogues.dialogue_id = first.dialogue_id
left join main.turns on turns.dialogue_id = first.dialogue_id and turns.turn_index = examples.turn_index
left join lengths on lengths.dialogue_id = first.dialogue_id
${joined}
order by first.threshold, first.release nulls first, first.split, first.example_index
