-- Each label of each labelled turn (or dialogue, record, persona) with the number of annotators who gave it.
-- grain: record_id, turn_index, persona_set, persona_position, scheme, label
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a label once that several of the publisher's releases have.
--   scheme: Annotation scheme.
--   scheme_kind: single_label, multi_label or structure: as declared, or else multi_label where an annotator gives several labels to one thing. Only labels of single_label schemes are votes against one another; for agreement filter by it.
--   record_id: The record that published the labels; an input file that occurs twice counts once.
--   turn_index: The labelled turn; null: the whole dialogue, record or persona.
--   label: The label, verbatim; the number as text where a scheme has only numbers.
--   vote_count: Annotators who gave this label.
--   annotator_count: Annotators who labelled the turn in this scheme.
--   vote_share: vote_count by annotator_count, 0 to 1; of a thing with several labels at once the shares add up to more than 1.
with
several_at_once as (
    select distinct scheme
    from main.annotations
    where item_index > 0
),

kinds as (
    select
        schemes.scheme,
        coalesce(
            schemes.kind,
            case when several_at_once.scheme is null then 'single_label' else 'multi_label' end
        ) as scheme_kind,
    from main.schemes
    left join several_at_once on several_at_once.scheme = schemes.scheme
),

-- Who is asked for one label gives one: the labels are the annotators.
single as (
    select
        annotations.record_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.persona_set,
        annotations.persona_position,
        annotations.persona_id,
        annotations.scheme,
        'single_label' as scheme_kind,
        coalesce(annotations.label, annotations.value::varchar) as label,
        count(*) as vote_count,
        sum(count(*)) over (
            partition by
                annotations.record_id,
                annotations.dialogue_id,
                annotations.turn_index,
                annotations.persona_set,
                annotations.persona_position,
                annotations.scheme
        ) as annotator_count,
    from main.annotations
    inner join kinds on kinds.scheme = annotations.scheme
    where coalesce(annotations.label, annotations.value::varchar) is not null
        and kinds.scheme_kind = 'single_label'
    group by
        annotations.record_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.persona_set,
        annotations.persona_position,
        annotations.persona_id,
        annotations.scheme,
        coalesce(annotations.label, annotations.value::varchar)
),

-- Where labels go together, an annotator may give the same one twice, such as an act with two slots, or none at all.
-- The windows name scheme_kind, which a scheme implies, so that a filter by it is applied before them.
given as (
    select distinct
        annotations.record_id,
        annotations.dialogue_id,
        annotations.turn_index,
        annotations.persona_set,
        annotations.persona_position,
        annotations.persona_id,
        annotations.scheme,
        kinds.scheme_kind,
        annotations.annotator_index,
        coalesce(annotations.label, annotations.value::varchar) as label,
    from main.annotations
    inner join kinds on kinds.scheme = annotations.scheme
    where kinds.scheme_kind <> 'single_label'
),

placed as (
    select
        *,
        row_number() over (
            partition by
                record_id,
                dialogue_id,
                turn_index,
                persona_set,
                persona_position,
                scheme_kind,
                scheme,
                annotator_index
            order by label
        ) as place,
    from given
),

together as (
    select
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        scheme,
        scheme_kind,
        label,
        count(*) as vote_count,
        sum(count(*) filter (where place = 1)) over (
            partition by
                record_id,
                dialogue_id,
                turn_index,
                persona_set,
                persona_position,
                scheme_kind,
                scheme
        ) as annotator_count,
    from placed
    group by
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        scheme,
        scheme_kind,
        label
),

shared as (
    select *
    from single
    union all
    select *
    from together
)

select
    records.corpus_id,
    shared.record_id,
    shared.dialogue_id,
    shared.turn_index,
    shared.persona_set,
    shared.persona_position,
    shared.persona_id,
    shared.scheme,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
    shared.label,
    shared.vote_count,
    shared.annotator_count::bigint as annotator_count,
    shared.vote_count / shared.annotator_count::double as vote_share,
    shared.scheme_kind,
from shared
inner join main.records on records.record_id = shared.record_id
left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
where records.extra ->> 'repeats' is null and shared.label is not null
