-- $sentence
-- grain: release, split, example_index$context_head
--   turn_index: The turn with which the answers begin.
--   context: The texts of $before, in their order, verbatim; empty for the first.
--   context_roles: The roles of these turns.
--   chosen: The texts of the answer that was preferred, message by message, verbatim.
--   rejected: The texts of the other answer.
with
$talks,

$pairs,

answers as (
    select
        candidates.record_id,
        candidates.dialogue_id,
        candidates.turn_index,
        candidates.position,
        list(texts.text order by candidates.item_index) as texts,
    from main.candidates
    inner join main.texts on texts.text_id = candidates.text_id
    where candidates.candidate_set = 'completion' and starts_with(candidates.record_id, $records)
    group by candidates.record_id, candidates.dialogue_id, candidates.turn_index, candidates.position
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    $context_texts as context,
    $context_roles as context_roles,
    chosen.texts as chosen,
    rejected.texts as rejected,
    examples.release,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join talks on talks.dialogue_id = examples.dialogue_id$paths
inner join pairs
    on pairs.record_id = examples.record_id
    and pairs.turn_index = examples.turn_index
    and pairs.item_index is not distinct from examples.item_index
inner join answers as chosen
    on chosen.record_id = examples.record_id
    and chosen.dialogue_id = examples.dialogue_id
    and chosen.turn_index = examples.turn_index
    and chosen.position = pairs.chosen_position
inner join answers as rejected
    on rejected.record_id = examples.record_id
    and rejected.dialogue_id = examples.dialogue_id
    and rejected.turn_index = examples.turn_index
    and rejected.position = pairs.rejected_position
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = $corpus and examples.task = $task
