-- Each model, and none, with how often the guided workers took its suggestion, by split and the data set that the context comes from.
-- grain: split, context_dataset, model
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   model: The model whose suggestion was taken; none where the worker wrote freely.
--   answer_count: Answers of guided workers in this split and data set.
--   taken_count: Of these, answers for which this model's suggestion was taken.
--   taken_share: taken_count by answer_count, 0 to 1.
--   shown_first_count: Of the suggestions taken, those that stood first of the three on the screen; null for none.
with
answers as (
    select
        records.split,
        records.standard_split,
        dialogues.domain as context_dataset,
        coalesce(nullif(trim(annotations.label), ''), 'none') as model,
        candidates.position = 0 as is_first,
    from main.annotations
    inner join main.records on records.record_id = annotations.record_id
    inner join main.dialogues on dialogues.dialogue_id = annotations.dialogue_id
    inner join main.turns
        on turns.dialogue_id = annotations.dialogue_id
        and turns.turn_index = annotations.turn_index
        and turns.role = 'guided'
    left join main.candidates
        on candidates.record_id = annotations.record_id
        and candidates.turn_index = annotations.turn_index
        and candidates.candidate_set = 'suggestion'
        and candidates.source = annotations.label
    where annotations.scheme = 'blended_skill_talk.chosen_suggestion' and records.extra ->> 'repeats' is null
)

select
    split,
    standard_split,
    context_dataset,
    model,
    (sum(count(*)) over (partition by split, context_dataset))::bigint as answer_count,
    count(*) as taken_count,
    count(*) / sum(count(*)) over (partition by split, context_dataset)::double as taken_share,
    case when model <> 'none' then count_if(is_first)::bigint end as shown_first_count,
from answers
group by split, standard_split, context_dataset, model
