-- Tone: each letter that has one, with the letter that it answers.
-- grain: release, split, example_index
-- label: label
-- scheme: penpals.tone
--   answered: The text of the letter before it; null for the first.
--   letter: The text of the letter.
--   label: How it sounds.
select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.release,
    examples.turn_index,
    before.text as answered,
    turns.text as letter,
    annotations.label,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
left join main.turns as before
    on before.dialogue_id = examples.dialogue_id and before.turn_index = examples.turn_index - 1
inner join main.annotations
    on annotations.record_id = examples.record_id and annotations.turn_index = examples.turn_index
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'penpals' and examples.task = 'tone'
