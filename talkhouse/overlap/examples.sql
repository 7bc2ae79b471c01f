insert into ${result}.main.examples
select
    examples.corpus_id,
    examples.task,
    examples.release,
    examples.split,
    examples.example_index,
    examples.record_id,
    examples.dialogue_id,
    examples.turn_index,
    case
        when examples.dialogue_id is null or published.split is null then 'unjudged'
        when not dialogue.best.is_phrase then 'dialogue'
        when not turn.best.is_phrase and not context.best.is_phrase then 'both'
        when not turn.best.is_phrase then 'turn'
        when not context.best.is_phrase then 'context'
        when coalesce(dialogue.best, turn.best, context.best) is not null then 'phrase'
        else 'clean'
    end as verdict,
    ${best},
from ${warehouse}.main.examples
left join published on published.record_id = examples.record_id
left join best_dialogue as dialogue
    on dialogue.place = published.place and dialogue.owner = examples.dialogue_id
left join best_turn as turn
    on turn.place = published.place
    and turn.owner = examples.dialogue_id
    and turn.turn_index = examples.turn_index
left join best_context as context
    on context.place = published.place
    and context.owner = examples.dialogue_id
    and context.turn_index = examples.turn_index
where published.place is null or published.place not in (select place from against)
order by all
