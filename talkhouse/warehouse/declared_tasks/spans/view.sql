-- $sentence
-- grain: release, split, example_index
--   turn_index: The turn with the spans.
--   utterance: What it says, verbatim.
--   spans: Its labelled spans in the order of annotators, and each annotator's in theirs: start_index and end_index in code points, the end exclusive, with the label and the words.
with
$given

lists as (
    select
        given.record_id,
        given.dialogue_id,
        given.turn_index,
        list(
            {
                'start_index': given.start_index,
                'end_index': given.end_index,
                'label': given.label,
                'text': substring(
                    turns.text, given.start_index + 1, greatest(given.end_index - given.start_index, 0)
                )
            }
            order by given.annotator_index, given.item_index, given.labelled_by
        ) as spans,
    from given
    inner join main.turns
        on turns.dialogue_id = given.dialogue_id and turns.turn_index = given.turn_index
    where given.start_index is not null and given.end_index is not null
    group by given.record_id, given.dialogue_id, given.turn_index
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    turns.text as utterance,
    lists.spans,
    examples.release,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.turns
    on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join lists
    on lists.record_id = examples.record_id
    and lists.dialogue_id = examples.dialogue_id
    and lists.turn_index = examples.turn_index
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = $corpus and examples.task = $task
