-- $sentence
-- grain: release, split, example_index$context_head
--   turn_index: The turn that is to be said.
--   context: The texts of $before, in their order, verbatim; empty for the first.
--   context_roles: The roles of these turns.
--   response: What is said, verbatim; may be empty.
with
$talks

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    $context_texts as context,
    $context_roles as context_roles,
    talks.texts[examples.turn_index + 1] as response,
    examples.release,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join talks on talks.dialogue_id = examples.dialogue_id$paths
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = $corpus and examples.task = $task
