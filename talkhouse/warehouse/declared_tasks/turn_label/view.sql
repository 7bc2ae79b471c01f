-- $sentence
-- grain: release, split, example_index$context_head
-- label: label
-- scheme: $scheme_name
--   turn_index: The labelled turn.
--   context: The texts of $before, in their order, verbatim; empty for the first.
--   utterance: What the labelled turn says, verbatim; may be empty.
--   labels: Its labels by all annotators, in their order, and each annotator's in theirs.
--   label: The label that more than half of these are; null where none is.
with
$talks,

$given

votes as (
    select
        *,
        count(*) over (partition by record_id, dialogue_id, turn_index, label) as vote_count,
    from given
    where label is not null
),

lists as (
    select
        record_id,
        dialogue_id,
        turn_index,
        list(label order by annotator_index, item_index, labelled_by) as labels,
        case when max(vote_count) * 2 > count(*) then min_by(label, (-vote_count, label)) end as label,
    from votes
    group by record_id, dialogue_id, turn_index
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    $context_texts as context,
    talks.texts[examples.turn_index + 1] as utterance,
    lists.labels,
    lists.label,
    examples.release,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join talks on talks.dialogue_id = examples.dialogue_id$paths
inner join lists
    on lists.record_id = examples.record_id
    and lists.dialogue_id = examples.dialogue_id
    and lists.turn_index = examples.turn_index
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = $corpus and examples.task = $task
