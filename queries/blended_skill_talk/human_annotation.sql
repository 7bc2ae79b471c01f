-- Human annotations: each label that says whether a turn of the validation set shows a mode, as far as the file's undocumented layout tells.
-- grain: split, example_index
--   dialogue_id: The dialogue of the validation file, where its number or its words tell; else null.
--   turn_index: 0-based position of the turn in its dialogue (main.turns); without a dialogue the number that the file gives it, or its place in a list.
--   mode: knowledge, empathy, personal_situations or personal_background.
--   label: As published; true where the file only names the mode.
select
    records.split,
    records.standard_split,
    row_number() over (order by records.record_index, annotations.item_index) - 1 as example_index,
    records.dialogue_id,
    records.native_id,
    annotations.turn_index,
    split_part(annotations.scheme, '.', 2) as mode,
    annotations.label,
    annotations.annotator_index,
    records.record_id,
from main.annotations
inner join main.records on records.record_id = annotations.record_id
where records.corpus_id = 'blended_skill_talk'
    and records.subset = 'human_annotations'
    and records.extra ->> 'repeats' is null
