-- $sentence
-- grain: release, split, example_index
-- label: label
-- scheme: $scheme_name
--   turn_index: Null: the example is a whole dialogue.
--   context: The texts of all its turns, in their order, verbatim.
--   utterance: Null: the example is a whole dialogue.
--   labels: Its labels by all annotators, in their order, and each annotator's in theirs.
--   label: The label that more than half of these are; null where none is.
with
$talks,

$given

votes as (
    select
        *,
        count(*) over (partition by record_id, dialogue_id, label) as vote_count,
    from given
    where turn_index is null and label is not null
),

lists as (
    select
        record_id,
        dialogue_id,
        list(label order by annotator_index, item_index, labelled_by) as labels,
        case when max(vote_count) * 2 > count(*) then min_by(label, (-vote_count, label)) end as label,
    from votes
    group by record_id, dialogue_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.turn_index,
    coalesce(talks.texts, []::varchar[]) as context,
    null::varchar as utterance,
    lists.labels,
    lists.label,
    examples.release,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join lists on lists.record_id = examples.record_id and lists.dialogue_id = examples.dialogue_id
left join talks on talks.dialogue_id = examples.dialogue_id
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = $corpus and examples.task = $task
