-- Each turn that people annotated with each of the four skills: whether they see it there, and which skill a classifier sees in the turn.
-- grain: record_id, mode
--   corpus_id: blended_skill_talk.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   record_id: The row of human_annotations.json.
--   dialogue_id: The dialogue; null where the validation file is not loaded, or no turn of it is certain to be the row's.
--   turn_index: 0-based position of the turn in its dialogue; null without a dialogue.
--   context_dataset: Where the context of the dialogue comes from; null without a dialogue.
--   role: free or guided; null without a dialogue.
--   mode: knowledge, empathy, personal_situations or personal_background.
--   is_seen: True where people see the skill in the turn.
--   seen_count: How many of the four skills people see in the turn, 0 to 4.
--   prediction: A program's prediction for the turn, not a person's label: __WIZARD__ (knowledge), __EMPATHETIC__ (empathy) or __PERSONA__.
--   text: The words of the turn, as the row has them.
select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.record_id,
    records.dialogue_id,
    human_annotation.turn_index,
    dialogues.domain as context_dataset,
    turns.role,
    human_annotation.mode,
    human_annotation.label = 'true' as is_seen,
    count(case when human_annotation.label = 'true' then 1 end) over (
        partition by human_annotation.record_id
    ) as seen_count,
    predictions.label as prediction,
    human_annotation.text,
from blended_skill_talk.human_annotation
inner join main.records on records.record_id = human_annotation.record_id
inner join main.annotations as predictions
    on predictions.record_id = human_annotation.record_id
    and predictions.scheme = 'blended_skill_talk.classifier_prediction'
left join main.dialogues on dialogues.dialogue_id = human_annotation.dialogue_id
left join main.turns
    on turns.dialogue_id = human_annotation.dialogue_id and turns.turn_index = human_annotation.turn_index
