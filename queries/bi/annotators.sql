-- Each annotator whom the publisher identifies, with how often he or she says what the others say of the same turns (or dialogues, records, personas).
-- grain: corpus_id, scheme, release, is_default, split, subset, annotator_id
--   corpus_id: Corpus of the scheme.
--   scheme: Annotation scheme; left out are those whose labels go together and are not votes, see why_not_compared in bi.schemes.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for labels in the default publications of the dialogues: filter by it to count a label once that several of the publisher's releases have.
--   annotator_id: The publisher's id of the annotator, verbatim.
--   label_count: Labels by the annotator.
--   compared_count: Of these, labels of what somebody else labelled too.
--   decided_count: Of these, labels of what has a majority: one label that was given most often, the annotator's own vote included. A tie has none.
--   with_majority_count: Of these, labels that are the majority's.
--   with_majority_share: with_majority_count by decided_count, 0 to 1; null where decided_count is 0. For any group: the sum of the one by the sum of the other.
--   other_label_count: Labels by others of the same turns.
--   same_label_count: Of these, labels that equal the annotator's.
--   agreement_share: same_label_count by other_label_count, 0 to 1; null where nobody else labelled. Fairer than with_majority_share, since the annotator's own vote is no part of it, and ties count.
--   agreement_percent_bin: The least agreement_share of its bin in hundredths: 0 for less than 0.1, 10 for less than 0.2 ... 100 for 1.
with
ranked as (
    select
        *,
        max(vote_count) over labelled as most_votes,
        count(*) over (
            partition by record_id, turn_index, persona_set, persona_position, scheme, vote_count
        ) as rival_count,
    from bi.label_counts
    where scheme_kind = 'single_label'
    window labelled as (partition by record_id, turn_index, persona_set, persona_position, scheme)
),

counted as (
    select
        record_id,
        turn_index,
        persona_set,
        persona_position,
        scheme,
        is_default,
        label,
        annotator_count,
        vote_count,
        max(case when vote_count = most_votes then rival_count end) over (
            partition by record_id, turn_index, persona_set, persona_position, scheme
        ) = 1 as is_decided,
        vote_count = most_votes as is_most_frequent,
    from ranked
),

compared as (
    select
        records.corpus_id,
        annotations.scheme,
        records.release,
        counted.is_default,
        records.split,
        records.standard_split,
        records.subset,
        annotations.annotator_id,
        count(*) as label_count,
        count_if(counted.annotator_count >= 2)::bigint as compared_count,
        count_if(counted.annotator_count >= 2 and counted.is_decided)::bigint as decided_count,
        count_if(
            counted.annotator_count >= 2 and counted.is_decided and counted.is_most_frequent
        )::bigint as with_majority_count,
        sum(counted.annotator_count - 1)::bigint as other_label_count,
        sum(counted.vote_count - 1)::bigint as same_label_count,
    from main.annotations
    inner join main.records on records.record_id = annotations.record_id
    inner join counted
        on counted.record_id = annotations.record_id
        and counted.turn_index is not distinct from annotations.turn_index
        and counted.persona_set is not distinct from annotations.persona_set
        and counted.persona_position is not distinct from annotations.persona_position
        and counted.scheme = annotations.scheme
        and counted.label = coalesce(annotations.label, annotations.value::varchar)
    where annotations.annotator_id <> ''
    group by
        records.corpus_id,
        annotations.scheme,
        records.release,
        counted.is_default,
        records.split,
        records.standard_split,
        records.subset,
        annotations.annotator_id
)

select
    corpus_id,
    scheme,
    release,
    is_default,
    split,
    standard_split,
    subset,
    annotator_id,
    label_count,
    compared_count,
    decided_count,
    with_majority_count,
    with_majority_count / nullif(decided_count, 0) as with_majority_share,
    other_label_count,
    same_label_count,
    same_label_count / nullif(other_label_count, 0) as agreement_share,
    same_label_count * 10 // nullif(other_label_count, 0) * 10 as agreement_percent_bin,
from compared
