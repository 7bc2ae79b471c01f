-- Mood: each labelled utterance with what was said before it.
-- grain: release, split, example_index
-- label: label
-- scheme: teatime.mood
--   context: The utterances before it, in order; empty for the first.
--   utterance: What was said.
--   label: How it was taken, + or -.
with
dialogues as (
    select dialogue_id, list(text order by turn_index) as utterances
    from main.turns
    where starts_with(dialogue_id, 'teatime:')
    group by dialogue_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.release,
    examples.turn_index,
    dialogues.utterances[1:examples.turn_index] as context,
    dialogues.utterances[examples.turn_index + 1] as utterance,
    annotations.label,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join dialogues on dialogues.dialogue_id = examples.dialogue_id
inner join main.annotations
    on annotations.record_id = examples.record_id and annotations.turn_index = examples.turn_index
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'teatime' and examples.task = 'mood'
