-- Each model, and none, with how often the guided workers took its suggestion, by split and the data set that the context comes from.
-- grain: release, split, context_dataset, model
-- terms: none
--   corpus_id: blended_skill_talk.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   model: The model whose suggestion was taken; none where the worker wrote freely.
--   answer_count: Answers of guided workers in this split and data set; the same for each model, so that rows of one model may be added up.
--   taken_count: Of these, answers for which this model's suggestion was taken; may be 0.
--   taken_share: taken_count by answer_count, 0 to 1.
--   placed_count: Of the suggestions taken, those whose place on the screen the file tells; null for none.
--   shown_first_count: Of these, those that stood first of the three; null for none.
with
answers as (
    select
        records.corpus_id,
        records.release,
        records.split,
        records.standard_split,
        dialogues.domain as context_dataset,
        coalesce(nullif(trim(annotations.label, ' '), ''), 'none') as model,
        case when candidates.extra is null then candidates.position = 0 end as is_first,
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
),

places as (
    select
        corpus_id,
        release,
        split,
        standard_split,
        context_dataset,
        count(*) as answer_count,
    from answers
    group by corpus_id, release, split, standard_split, context_dataset
),

models as (
    select distinct model
    from answers
)

select
    places.corpus_id,
    places.release,
    places.split,
    places.standard_split,
    places.context_dataset,
    models.model,
    places.answer_count,
    count(answers.model) as taken_count,
    count(answers.model) / places.answer_count as taken_share,
    case when models.model <> 'none' then count(answers.is_first) end as placed_count,
    case when models.model <> 'none' then count(*) filter (where answers.is_first) end as shown_first_count,
from places
cross join models
left join answers
    on answers.corpus_id = places.corpus_id
    and answers.release is not distinct from places.release
    and answers.split is not distinct from places.split
    and answers.standard_split is not distinct from places.standard_split
    and answers.context_dataset is not distinct from places.context_dataset
    and answers.model = models.model
group by
    places.corpus_id,
    places.release,
    places.split,
    places.standard_split,
    places.context_dataset,
    models.model,
    places.answer_count
