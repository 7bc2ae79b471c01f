with
evidence as (
    select *, case verdict ${ranks} end as rank, if(verdict = 'both', 'turn', verdict) as unit
    from main.examples
    where verdict in (${verdicts})
)

select
    evidence.corpus_id,
    evidence.task,
    evidence.release,
    evidence.split,
    evidence.example_index,
    evidence.dialogue_id,
    evidence.turn_index,
    evidence.verdict,
    evidence.unit,
    matches.kind,
    matches.shared,
    matches.total,
    matches.other_place,
    matches.other_owner,
    matches.other_turn_index,
from evidence
inner join main.places
    on places.corpus_id = evidence.corpus_id
    and places.release is not distinct from evidence.release
    and places.split is not distinct from evidence.split
inner join main.matches
    on matches.unit = evidence.unit
    and matches.place = places.place
    and matches.owner = evidence.dialogue_id
    and matches.turn_index is not distinct from if(evidence.unit = 'dialogue', null, evidence.turn_index)
    and matches.other_unit = evidence.unit
    and matches.other_place
    = case evidence.unit when 'turn' then turn_place when 'context' then context_place else dialogue_place end
where matches.kind <> 'same'
qualify row_number() over (
    partition by evidence.dialogue_id order by rank, similarity desc, words desc, task, example_index
) = 1
order by rank, matches.similarity desc, matches.words desc, evidence.dialogue_id
limit ${number}
