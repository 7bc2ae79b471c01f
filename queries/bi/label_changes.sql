-- What changed between two publications of one turn: its votes in each pair of the publisher's releases that label it, the preferred one first. A corpus that was published once has no row.
-- grain: dialogue_id, turn_index, scheme, release_before, release_after
-- identifying: known_speaker_name = name
--   corpus_id: Corpus of the scheme.
--   scheme: Annotation scheme; left out are those whose labels go together and are not votes, see why_not_compared in bi.schemes.
--   release_before: Of the two publisher's releases, the one that comes first in main.releases.
--   release_after: The other one.
--   is_default: True where release_before is that of the dialogue's default publication.
--   record_id_before: The record that published the labels in release_before; where several did, the first.
--   record_id_after: The same in release_after.
--   subset_before: The published file or folder of that record.
--   subset_after: The same in release_after.
--   split: Split of record_id_before, by the publisher's own name.
--   speaker_name: Name or alias of who said the turn.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   text: What the turn says, verbatim.
--   votes_before: Each label with how many annotators gave it: O 12, T 8, X 10.
--   votes_after: The same in release_after.
--   majority_before: The label that most annotators gave; on a tie, the first of these in the order of characters.
--   majority_after: The same in release_after.
--   is_majority_changed: True where the two differ.
--   is_changed: True where the labels' shares of the votes differ at all.
--   change: Half the sum of the differences between the labels' shares of the votes (total variation distance): 0 where they are equal, 1 where no label is in both.
with
-- Without the votes of corpora that were published once, which may be many.
votes as (
    select
        records.corpus_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.scheme,
        releases.release,
        releases.release_index,
        annotations.record_id,
        coalesce(annotations.label, annotations.value::varchar) as label,
        count(*) as vote_count,
        max(annotations.item_index) as item_index,
    from main.releases
    inner join main.records
        on records.corpus_id = releases.corpus_id
        and records.release = releases.release
        and records.extra ->> 'repeats' is null
    inner join main.annotations on annotations.record_id = records.record_id
    inner join main.schemes
        on schemes.scheme = annotations.scheme and coalesce(schemes.kind, 'single_label') = 'single_label'
    where annotations.dialogue_id is not null
        and annotations.turn_index is not null
        and annotations.persona_set is null
        and coalesce(annotations.label, annotations.value::varchar) is not null
    group by
        records.corpus_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.scheme,
        releases.release,
        releases.release_index,
        annotations.record_id,
        coalesce(annotations.label, annotations.value::varchar)
),

placed as (
    select
        *,
        min(record_id) over (partition by dialogue_id, turn_index, scheme, release) as first_record_id,
        max(item_index) over (partition by scheme) as last_item_index,
    from votes
),

labels as (
    select *
    from placed
    where record_id = first_record_id and last_item_index = 0
),

units as (
    select
        corpus_id,
        dialogue_id,
        turn_index,
        scheme,
        release,
        release_index,
        record_id,
        sum(vote_count)::bigint as annotator_count,
        min_by(label, (-vote_count, label)) as majority_label,
        array_to_string(list(label || ' ' || vote_count::varchar order by label), ', ') as votes,
    from labels
    group by corpus_id, dialogue_id, turn_index, scheme, release, release_index, record_id
),

-- Of each label in both, the smaller share, in whole numbers: exactly everything where the shares are equal.
common as (
    select
        before.dialogue_id,
        before.turn_index,
        before.scheme,
        before.release as release_before,
        after.release as release_after,
        sum(
            least(
                before.vote_count * units_after.annotator_count,
                after.vote_count * units_before.annotator_count
            )
        )::bigint as vote_count,
    from labels as before
    inner join labels as after
        on after.dialogue_id = before.dialogue_id
        and after.turn_index = before.turn_index
        and after.scheme = before.scheme
        and after.label = before.label
        and after.release_index > before.release_index
    inner join units as units_before
        on units_before.record_id = before.record_id
        and units_before.turn_index = before.turn_index
        and units_before.scheme = before.scheme
    inner join units as units_after
        on units_after.record_id = after.record_id
        and units_after.turn_index = after.turn_index
        and units_after.scheme = after.scheme
    group by before.dialogue_id, before.turn_index, before.scheme, before.release, after.release
)

select
    before.corpus_id,
    before.dialogue_id,
    before.turn_index,
    before.scheme,
    before.release as release_before,
    after.release as release_after,
    coalesce(default_releases.release = before.release, false) as is_default,
    before.record_id as record_id_before,
    after.record_id as record_id_after,
    records_before.subset as subset_before,
    records_after.subset as subset_after,
    records_before.split,
    speakers.name as speaker_name,
    case when not speakers.is_anonymous then speakers.name end as known_speaker_name,
    turns.text,
    before.votes as votes_before,
    after.votes as votes_after,
    before.majority_label as majority_before,
    after.majority_label as majority_after,
    before.majority_label <> after.majority_label as is_majority_changed,
    coalesce(common.vote_count, 0) < before.annotator_count * after.annotator_count as is_changed,
    (before.annotator_count * after.annotator_count - coalesce(common.vote_count, 0))::double
        / (before.annotator_count * after.annotator_count) as change,
from units as before
inner join units as after
    on after.dialogue_id = before.dialogue_id
    and after.turn_index = before.turn_index
    and after.scheme = before.scheme
    and after.release_index > before.release_index
inner join main.records as records_before on records_before.record_id = before.record_id
inner join main.records as records_after on records_after.record_id = after.record_id
left join bi.default_releases on default_releases.dialogue_id = before.dialogue_id
left join common
    on common.dialogue_id = before.dialogue_id
    and common.turn_index = before.turn_index
    and common.scheme = before.scheme
    and common.release_before = before.release
    and common.release_after = after.release
left join main.turns on turns.dialogue_id = before.dialogue_id and turns.turn_index = before.turn_index
left join main.speakers on speakers.speaker_id = turns.speaker_id
