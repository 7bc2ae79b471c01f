-- Human annotations: for each turn of the validation set that people annotated, whether they see each of four skills in it.
-- grain: split, example_index
--   dialogue_id: The dialogue of the validation file; null where that file is not loaded, or no turn of it is certain to be the row's (rule BS-12).
--   native_id: The row's internal_id: the 0-based place of the dialogue in the validation file.
--   turn_index: 0-based position of the turn in its dialogue (main.turns); null without a dialogue.
--   mode: knowledge, empathy, personal_situations or personal_background.
--   label: true or false, as published.
--   text: The words of the turn, as the row has them.
select
    records.split,
    records.standard_split,
    row_number() over (
        order by
            records.record_index,
            case annotations.scheme
                when 'blended_skill_talk.knowledge' then 0
                when 'blended_skill_talk.empathy' then 1
                when 'blended_skill_talk.personal_situations' then 2
                else 3
            end
    ) - 1 as example_index,
    records.dialogue_id,
    records.native_id,
    annotations.turn_index,
    split_part(annotations.scheme, '.', 2) as mode,
    annotations.label,
    annotations.annotator_index,
    records.record_id,
    records.extra ->> 'text' as text,
from main.annotations
inner join main.records on records.record_id = annotations.record_id
where records.corpus_id = 'blended_skill_talk'
    and records.subset = 'human_annotations'
    and records.extra ->> 'repeats' is null
    and annotations.scheme <> 'blended_skill_talk.classifier_prediction'
