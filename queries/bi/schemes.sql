-- Each annotation scheme: what it is, how much is labelled in it, and why its labels are not compared, where they are not.
-- grain: scheme
-- terms: none
--   corpus_id: Corpus of the scheme.
--   kind: single_label: each annotator gives a thing one label. multi_label: any number at once. structure: the labels are parts of one structure, such as acts with slots. Where the corpus does not declare it, as the labels show; null: not declared, and without labels.
--   is_kind_declared: True where the corpus declares the kind.
--   target: What a label is about: turn, dialogue, record or persona.
--   description: What is labelled, by whom, and how.
--   known_label_count: Labels in the vocabulary, declared or not.
--   used_label_count: Different labels that occur; numbers count too.
--   unit_count: Labelled turns (or dialogues, records, personas); once, by its default publication.
--   label_count: Labels of the default publications, one per annotator.
--   vote_count: Labels of these units, one per annotator and label; of a scheme that has only numbers, the numbers.
--   max_annotator_count: Most annotators of a unit.
--   why_not_compared: Why bi.scheme_agreement has no row: no labels, numbers alone by one annotator, one annotator, several labels at once, or parts of a structure; null where it has one.
with
units as (
    select
        scheme,
        record_id,
        turn_index,
        persona_set,
        persona_position,
        max(scheme_kind) as kind,
        is_default,
        max(annotator_count) as annotator_count,
        sum(vote_count) as vote_count,
    from bi.label_counts
    group by scheme, record_id, turn_index, persona_set, persona_position, is_default
),

measured as (
    select
        scheme,
        max(kind) as kind,
        count_if(is_default)::bigint as unit_count,
        coalesce(sum(vote_count) filter (where is_default), 0)::bigint as vote_count,
        max(annotator_count) as max_annotator_count,
    from units
    group by scheme
),

labelled as (
    select annotations.scheme, count(*) as label_count
    from main.annotations
    inner join main.records on records.record_id = annotations.record_id
    left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
    where annotations.label is not null
        and records.extra ->> 'repeats' is null
        and coalesce(default_releases.release = records.release, default_releases.release is null)
    group by annotations.scheme
),

used as (
    select scheme, count(distinct label) as label_count
    from bi.label_counts
    group by scheme
),

known as (
    select scheme, count(*) as label_count
    from main.labels
    group by scheme
)

select
    split_part(schemes.scheme, '.', 1) as corpus_id,
    schemes.scheme,
    coalesce(schemes.kind, measured.kind) as kind,
    schemes.kind is not null as is_kind_declared,
    schemes.target,
    schemes.description,
    coalesce(known.label_count, 0) as known_label_count,
    coalesce(used.label_count, 0) as used_label_count,
    coalesce(measured.unit_count, 0) as unit_count,
    coalesce(labelled.label_count, 0) as label_count,
    coalesce(measured.vote_count, 0) as vote_count,
    coalesce(measured.max_annotator_count, 0) as max_annotator_count,
    case
        when measured.kind is null then 'no labels'
        when measured.kind = 'multi_label' then 'several labels at once'
        when measured.kind = 'structure' then 'parts of a structure'
        when measured.max_annotator_count = 1 and labelled.label_count is null then 'numbers, no labels'
        when measured.max_annotator_count = 1 then 'one annotator'
    end as why_not_compared,
from main.schemes
left join measured on measured.scheme = schemes.scheme
left join labelled on labelled.scheme = schemes.scheme
left join used on used.scheme = schemes.scheme
left join known on known.scheme = schemes.scheme
