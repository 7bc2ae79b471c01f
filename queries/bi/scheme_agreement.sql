-- How far the annotators of a scheme agree over a whole release, and over the default publications of all dialogues; by split and subset: bi.subset_agreement.
-- grain: scheme, release, is_default
-- terms: none
--   corpus_id: Corpus of the scheme.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release, and where units of several releases are compared by their default publications.
--   is_default: True in one row of each scheme: of its only release, or of the default publications where several releases have labels.
--   scheme: Annotation scheme; left out are those whose labels go together and are not votes, see why_not_compared in bi.schemes.
--   scheme_description: What is labelled, by whom, and how.
--   target: What a label of the scheme is about: turn, dialogue, record or persona.
--   unit_count: Turns (or dialogues, records, personas) that two or more annotators labelled; others say nothing about agreement.
--   rating_count: Labels of these units.
--   distinct_label_count: Different labels among these.
--   min_annotator_count: Fewest annotators of a unit.
--   max_annotator_count: Most annotators of a unit.
--   mean_majority_share: Mean, over the units, of the share of annotators who gave the label of the majority; weigh it by unit_count to combine rows.
--   mean_entropy: Mean, over the units, of the entropy of the labels in bits; weigh it by unit_count to combine rows.
--   observed_disagreement: Share of the pairs of labels of one unit that differ; a unit weighs as much as it has labels; weigh it by rating_count to combine rows.
--   expected_disagreement: Share of the pairs of labels of any units that differ; rows can't be combined, as neither those of the two measures below.
--   krippendorff_alpha: Krippendorff's alpha for nominal data (Krippendorff 2011); null where only one label occurs, since it is undefined then.
--   fleiss_kappa: Fleiss' kappa (Fleiss 1971); null where units differ in their number of annotators, or only one label occurs.
with
-- Schemes of which every unit is in one release, and that in its default publication.
in_one as (
    select scheme
    from bi.subset_agreement
    group by scheme
    having bool_and(is_default) and count(distinct coalesce(release, '')) = 1
),

wholes as (
    select distinct
        subset_agreement.scheme,
        subset_agreement.release,
        in_one.scheme is not null as is_default,
        false as is_combined,
    from bi.subset_agreement
    left join in_one on in_one.scheme = subset_agreement.scheme
    union all
    select distinct
        subset_agreement.scheme,
        null as release,
        true as is_default,
        true as is_combined,
    from bi.subset_agreement
    left join in_one on in_one.scheme = subset_agreement.scheme
    where subset_agreement.is_default and in_one.scheme is null
),

units as (
    select
        parts.corpus_id,
        wholes.scheme,
        wholes.release,
        wholes.is_default,
        sum(parts.unit_count)::bigint as unit_count,
        sum(parts.rating_count)::bigint as rating_count,
        min(parts.min_annotator_count) as min_annotator_count,
        max(parts.max_annotator_count) as max_annotator_count,
        sum(parts.unit_count * parts.mean_majority_share) / sum(parts.unit_count) as mean_majority_share,
        sum(parts.unit_count * parts.mean_entropy) / sum(parts.unit_count) as mean_entropy,
        sum(parts.rating_count * parts.observed_disagreement) / sum(parts.rating_count) as observed_disagreement,
    from wholes
    inner join bi.subset_agreement as parts
        on parts.scheme = wholes.scheme
        and case when wholes.is_combined then parts.is_default else parts.release is not distinct from wholes.release end
    group by parts.corpus_id, wholes.scheme, wholes.release, wholes.is_default
),

votes as (
    select
        scheme,
        release,
        is_default,
        label,
        sum(vote_count) as vote_count,
    from bi.label_counts
    where scheme_kind = 'single_label' and annotator_count >= 2
    group by scheme, release, is_default, label
),

labels as (
    select
        wholes.scheme,
        wholes.release,
        wholes.is_default,
        votes.label,
        sum(votes.vote_count)::double as vote_count,
    from wholes
    inner join votes
        on votes.scheme = wholes.scheme
        and case when wholes.is_combined then votes.is_default else votes.release is not distinct from wholes.release end
    group by wholes.scheme, wholes.release, wholes.is_default, votes.label
),

shares as (
    select
        scheme,
        release,
        is_default,
        count(*) as distinct_label_count,
        -- 1 less the sum of squared shares, in whole numbers until the last step: exactly 0 for one label.
        (sum(vote_count) ** 2 - sum(vote_count ** 2)) / sum(vote_count) ** 2 as diversity,
    from labels
    group by scheme, release, is_default
)

select
    units.corpus_id,
    units.scheme,
    units.release,
    units.is_default,
    schemes.description as scheme_description,
    schemes.target,
    units.unit_count,
    units.rating_count,
    shares.distinct_label_count,
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
inner join main.schemes on schemes.scheme = units.scheme
inner join shares
    on shares.scheme = units.scheme
    and shares.release is not distinct from units.release
    and shares.is_default = units.is_default
