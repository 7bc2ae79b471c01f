-- How far the annotators of a scheme agree, for each published file or folder of a publisher's release and split.
-- grain: scheme, release, is_default, split, subset
-- terms: none
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for units in the default publications of their dialogues: filter by it to count a unit once that several of the publisher's releases have. A folder with units of both kinds has two rows.
--   scheme: Annotation scheme; left out are those whose labels go together and are not votes, see why_not_compared in bi.schemes.
--   unit_count: Turns (or dialogues, records, personas) that two or more annotators labelled; others say nothing about agreement.
--   rating_count: Labels of these units.
--   distinct_label_count: Different labels among these.
--   identified_annotator_count: Different annotators of the scheme, as far as the publisher identifies them; null: it identifies none.
--   min_annotator_count: Fewest annotators of a unit.
--   max_annotator_count: Most annotators of a unit.
--   mean_majority_share: Mean, over the units, of the share of annotators who gave the label of the majority; weigh it by unit_count to combine rows.
--   mean_entropy: Mean, over the units, of the entropy of the labels in bits; weigh it by unit_count to combine rows.
--   observed_disagreement: Share of the pairs of labels of one unit that differ; a unit weighs as much as it has labels; weigh it by rating_count to combine rows.
--   expected_disagreement: Share of the pairs of labels of any units that differ; rows can't be combined, as neither those of the two measures below.
--   krippendorff_alpha: Krippendorff's alpha for nominal data (Krippendorff 2011); null where only one label occurs, since it is undefined then.
--   fleiss_kappa: Fleiss' kappa (Fleiss 1971); null where units differ in their number of annotators, or only one label occurs.
with
units as (
    select
        corpus_id,
        scheme,
        release,
        is_default,
        split,
        standard_split,
        subset,
        count(*) as unit_count,
        sum(annotator_count)::bigint as rating_count,
        min(annotator_count) as min_annotator_count,
        max(annotator_count) as max_annotator_count,
        avg(majority_share) as mean_majority_share,
        avg(entropy) as mean_entropy,
        sum(annotator_count * (1 - pairwise_agreement)) / sum(annotator_count) as observed_disagreement,
    from bi.turn_agreement
    group by corpus_id, scheme, release, is_default, split, standard_split, subset
),

labels as (
    select
        scheme,
        release,
        is_default,
        split,
        subset,
        label,
        sum(vote_count)::double as vote_count,
    from bi.label_counts
    where scheme_kind = 'single_label' and annotator_count >= 2
    group by scheme, release, is_default, split, subset, label
),

shares as (
    select
        scheme,
        release,
        is_default,
        split,
        subset,
        count(*) as distinct_label_count,
        -- 1 less the sum of squared shares, in whole numbers until the last step: exactly 0 for one label.
        (sum(vote_count) ** 2 - sum(vote_count ** 2)) / sum(vote_count) ** 2 as diversity,
    from labels
    group by scheme, release, is_default, split, subset
),

annotators as (
    select
        annotations.scheme,
        records.release,
        coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
        records.split,
        records.subset,
        count(distinct annotations.annotator_id) as identified_annotator_count,
    from main.annotations
    inner join main.records on records.record_id = annotations.record_id
    left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
    where annotations.annotator_id <> '' and records.extra ->> 'repeats' is null
    group by annotations.scheme, records.release, is_default, records.split, records.subset
)

select
    units.corpus_id,
    units.scheme,
    units.release,
    units.is_default,
    units.split,
    units.standard_split,
    units.subset,
    units.unit_count,
    units.rating_count,
    shares.distinct_label_count,
    annotators.identified_annotator_count,
    units.min_annotator_count,
    units.max_annotator_count,
    units.mean_majority_share,
    units.mean_entropy,
    units.observed_disagreement,
    shares.diversity * units.rating_count / (units.rating_count - 1) as expected_disagreement,
    1 - units.observed_disagreement
        / nullif(shares.diversity * units.rating_count / (units.rating_count - 1), 0) as krippendorff_alpha,
    case when units.min_annotator_count = units.max_annotator_count
        then 1 - units.observed_disagreement / nullif(shares.diversity, 0)
    end as fleiss_kappa,
from units
inner join shares
    on shares.scheme = units.scheme
    and shares.release is not distinct from units.release
    and shares.is_default = units.is_default
    and shares.split is not distinct from units.split
    and shares.subset is not distinct from units.subset
left join annotators
    on annotators.scheme = units.scheme
    and annotators.release is not distinct from units.release
    and annotators.is_default = units.is_default
    and annotators.split is not distinct from units.split
    and annotators.subset is not distinct from units.subset
