-- How far the annotators of a scheme agree over a whole publisher's release, and over the default publications of all dialogues; by split and subset: bi.subset_agreement.
-- grain: scheme, release, is_default
-- terms: none
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once, and where units of several of the publisher's releases are compared by their default publications.
--   is_default: True in one row of each scheme: of the only publisher's release, or of the default publications where several of the publisher's releases have labels.
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
--   krippendorff_alpha_low: Lower end of alpha's 95 % confidence interval; null for fewer than two dialogues. By linearisation (Taylor series), with the dialogue as the unit of sampling, for the turns of one are alike; normal approximation, so wider in truth for a handful of dialogues.
--   krippendorff_alpha_high: Upper end of it, at most 1.
--   krippendorff_alpha_ordinal: Krippendorff's alpha for ordinal data: labels that are far apart on the scheme's scale disagree more than neighbours; null where the scheme declares no scale, or a label has no place on it.
--   subset_count: Published files or folders (by split) that have an alpha of their own, see bi.subset_agreement.
--   subset_alpha_low: The lowest alpha, for nominal data, of these.
--   subset_alpha_high: The highest.
--   reading: What alpha allows, by Krippendorff (2004): reliable (at least 0.8), tentative conclusions only (at least 0.667), or too low for conclusions; below 0.2, which Landis and Koch (1977) call slight, little better than chance, and not told apart from chance where the interval has 0. About labels that are meant to be one truth: where every vote counts, as for labels that are distributions, it measures how far people differ.
--   fleiss_kappa: Fleiss' kappa (Fleiss 1971); null where units differ in their number of annotators, or only one label occurs.
with
-- Of both units and votes, read once.
counts as (
    select
        corpus_id,
        record_id,
        turn_index,
        persona_set,
        persona_position,
        scheme,
        release,
        is_default,
        coalesce(dialogue_id, record_id) as talk,
        label,
        vote_count,
        vote_share,
        annotator_count,
    from bi.label_counts
    where scheme_kind = 'single_label' and annotator_count >= 2
),

-- As bi.turn_agreement measures them, without what the turns say.
compared as (
    select
        corpus_id,
        scheme,
        release,
        is_default,
        talk,
        annotator_count,
        max(vote_share) as majority_share,
        sum(vote_share * log2(1 / vote_share)) as entropy,
        sum(vote_count * (vote_count - 1))::double
            / (annotator_count * (annotator_count - 1)) as pairwise_agreement,
    from counts
    group by
        corpus_id,
        record_id,
        turn_index,
        persona_set,
        persona_position,
        scheme,
        release,
        is_default,
        talk,
        annotator_count
),

-- By dialogue, which is what the interval takes to be sampled; a unit without one stands for itself.
talks as (
    select
        corpus_id,
        scheme,
        release,
        is_default,
        talk,
        count(*) as unit_count,
        sum(annotator_count)::bigint as rating_count,
        min(annotator_count) as min_annotator_count,
        max(annotator_count) as max_annotator_count,
        sum(majority_share) as majority_share_sum,
        sum(entropy) as entropy_sum,
        sum(annotator_count * (1 - pairwise_agreement)) as disagreement_sum,
    from compared
    group by corpus_id, scheme, release, is_default, talk
),

votes as (
    select
        scheme,
        release,
        is_default,
        talk,
        label,
        sum(vote_count)::bigint as vote_count,
    from counts
    group by scheme, release, is_default, talk, label
),

-- Schemes of which every unit is in one publisher's release, and that in its default publication.
in_one as (
    select scheme
    from talks
    group by scheme
    having bool_and(is_default) and count(distinct coalesce(release, '')) = 1
),

wholes as (
    select distinct
        talks.scheme,
        talks.release,
        in_one.scheme is not null as is_whole,
        false as is_combined,
    from talks
    left join in_one on in_one.scheme = talks.scheme
    union all
    select distinct
        talks.scheme,
        null as release,
        true as is_whole,
        true as is_combined,
    from talks
    left join in_one on in_one.scheme = talks.scheme
    where talks.is_default and in_one.scheme is null
),

units as (
    select
        talks.corpus_id,
        wholes.scheme,
        wholes.release,
        wholes.is_whole,
        count(distinct talks.talk) as talk_count,
        sum(talks.unit_count)::bigint as unit_count,
        sum(talks.rating_count)::bigint as rating_count,
        min(talks.min_annotator_count) as min_annotator_count,
        max(talks.max_annotator_count) as max_annotator_count,
        sum(talks.majority_share_sum) / sum(talks.unit_count) as mean_majority_share,
        sum(talks.entropy_sum) / sum(talks.unit_count) as mean_entropy,
        sum(talks.disagreement_sum) / sum(talks.rating_count) as observed_disagreement,
    from wholes
    inner join talks
        on talks.scheme = wholes.scheme
        and case when wholes.is_combined then talks.is_default else talks.release is not distinct from wholes.release end
    group by talks.corpus_id, wholes.scheme, wholes.release, wholes.is_whole
),

labels as (
    select
        wholes.scheme,
        wholes.release,
        wholes.is_whole,
        votes.label,
        sum(votes.vote_count)::double as vote_count,
    from wholes
    inner join votes
        on votes.scheme = wholes.scheme
        and case when wholes.is_combined then votes.is_default else votes.release is not distinct from wholes.release end
    group by wholes.scheme, wholes.release, wholes.is_whole, votes.label
),

shares as (
    select
        scheme,
        release,
        is_whole,
        count(*) as distinct_label_count,
        -- 1 less the sum of squared shares, in whole numbers until the last step: exactly 0 for one label.
        (sum(vote_count) ** 2 - sum(vote_count ** 2)) / sum(vote_count) ** 2 as diversity,
    from labels
    group by scheme, release, is_whole
),

-- Of each dialogue, the sum over its labels of the label's share in the whole.
frequencies as (
    select
        wholes.scheme,
        wholes.release,
        wholes.is_whole,
        votes.talk,
        sum(votes.vote_count * labels.vote_count) as share_sum,
    from wholes
    inner join votes
        on votes.scheme = wholes.scheme
        and case when wholes.is_combined then votes.is_default else votes.release is not distinct from wholes.release end
    inner join labels
        on labels.scheme = wholes.scheme
        and labels.release is not distinct from wholes.release
        and labels.is_whole = wholes.is_whole
        and labels.label = votes.label
    group by wholes.scheme, wholes.release, wholes.is_whole, votes.talk
),

weights as (
    select
        wholes.scheme,
        wholes.release,
        wholes.is_whole,
        talks.talk,
        sum(talks.rating_count) as rating_count,
        sum(talks.disagreement_sum) as disagreement_sum,
    from wholes
    inner join talks
        on talks.scheme = wholes.scheme
        and case when wholes.is_combined then talks.is_default else talks.release is not distinct from wholes.release end
    group by wholes.scheme, wholes.release, wholes.is_whole, talks.talk
),

-- What each dialogue does to observed disagreement by expected: the derivative by its weight.
spreads as (
    select
        units.scheme,
        units.release,
        units.is_whole,
        sum(
            (
                (weights.disagreement_sum - units.observed_disagreement * weights.rating_count)
                / nullif(shares.diversity, 0)
                + 2 * units.observed_disagreement
                * (frequencies.share_sum / units.rating_count - (1 - shares.diversity) * weights.rating_count)
                / nullif(shares.diversity, 0) ** 2
            ) ** 2
        )
        / units.rating_count ** 2 as square_sum,
    from units
    inner join shares
        on shares.scheme = units.scheme
        and shares.release is not distinct from units.release
        and shares.is_whole = units.is_whole
    inner join weights
        on weights.scheme = units.scheme
        and weights.release is not distinct from units.release
        and weights.is_whole = units.is_whole
    inner join frequencies
        on frequencies.scheme = weights.scheme
        and frequencies.release is not distinct from weights.release
        and frequencies.is_whole = weights.is_whole
        and frequencies.talk = weights.talk
    group by units.scheme, units.release, units.is_whole, units.rating_count
),

-- For ordinal data, the distance of two labels is that of the middles of their ranks among all.
ranks as (
    select
        labels.scheme,
        labels.release,
        labels.is_whole,
        labels.label,
        labels.vote_count,
        sum(labels.vote_count) over (
            partition by labels.scheme, labels.release, labels.is_whole
            order by places.label_index
            rows between unbounded preceding and current row
        ) - labels.vote_count / 2 as middle,
    from labels
    inner join main.schemes on schemes.scheme = labels.scheme and schemes.scale is not null
    inner join main.labels as places
        on places.scheme = labels.scheme and places.label = labels.label and places.label_index is not null
),

spans as (
    select
        scheme,
        release,
        is_whole,
        count(*) as ranked_label_count,
        sum(vote_count) * sum(vote_count * middle ** 2) - sum(vote_count * middle) ** 2 as square_sum,
    from ranks
    group by scheme, release, is_whole
),

distances as (
    select
        ranks.scheme,
        ranks.release,
        ranks.is_whole,
        (
            counts.annotator_count * sum(counts.vote_count * ranks.middle ** 2)
            - sum(counts.vote_count * ranks.middle) ** 2
        ) / (counts.annotator_count - 1) as square_sum,
    from ranks
    inner join wholes
        on wholes.scheme = ranks.scheme
        and wholes.release is not distinct from ranks.release
        and wholes.is_whole = ranks.is_whole
    inner join counts
        on counts.scheme = ranks.scheme
        and counts.label = ranks.label
        and case when wholes.is_combined then counts.is_default else counts.release is not distinct from wholes.release end
    group by
        ranks.scheme,
        ranks.release,
        ranks.is_whole,
        counts.record_id,
        counts.turn_index,
        counts.persona_set,
        counts.persona_position,
        counts.annotator_count
),

ordinal as (
    select
        spans.scheme,
        spans.release,
        spans.is_whole,
        spans.ranked_label_count,
        sum(distances.square_sum) / nullif(max(spans.square_sum), 0) as disagreement,
    from spans
    inner join distances
        on distances.scheme = spans.scheme
        and distances.release is not distinct from spans.release
        and distances.is_whole = spans.is_whole
    group by spans.scheme, spans.release, spans.is_whole, spans.ranked_label_count
),

subsets as (
    select
        wholes.scheme,
        wholes.release,
        wholes.is_whole,
        count(parts.krippendorff_alpha) as subset_count,
        min(parts.krippendorff_alpha) as alpha_low,
        max(parts.krippendorff_alpha) as alpha_high,
    from wholes
    inner join bi.subset_agreement as parts
        on parts.scheme = wholes.scheme
        and case when wholes.is_combined then parts.is_default else parts.release is not distinct from wholes.release end
    group by wholes.scheme, wholes.release, wholes.is_whole
),

measured as (
    select
        units.*,
        shares.distinct_label_count,
        shares.diversity * units.rating_count / (units.rating_count - 1) as expected_disagreement,
        1 - units.observed_disagreement
            / nullif(shares.diversity * units.rating_count / (units.rating_count - 1), 0) as krippendorff_alpha,
        1.96 * (spreads.square_sum * units.talk_count / nullif(units.talk_count - 1, 0)) ** 0.5
            * (units.rating_count - 1) / units.rating_count as margin,
        case when units.min_annotator_count = units.max_annotator_count
            then 1 - units.observed_disagreement / nullif(shares.diversity, 0)
        end as fleiss_kappa,
        case when ordinal.ranked_label_count = shares.distinct_label_count
            then 1 - ordinal.disagreement * (units.rating_count - 1)
        end as krippendorff_alpha_ordinal,
        subsets.subset_count,
        subsets.alpha_low as subset_alpha_low,
        subsets.alpha_high as subset_alpha_high,
    from units
    inner join shares
        on shares.scheme = units.scheme
        and shares.release is not distinct from units.release
        and shares.is_whole = units.is_whole
    inner join spreads
        on spreads.scheme = units.scheme
        and spreads.release is not distinct from units.release
        and spreads.is_whole = units.is_whole
    inner join subsets
        on subsets.scheme = units.scheme
        and subsets.release is not distinct from units.release
        and subsets.is_whole = units.is_whole
    left join ordinal
        on ordinal.scheme = units.scheme
        and ordinal.release is not distinct from units.release
        and ordinal.is_whole = units.is_whole
)

select
    measured.corpus_id,
    measured.scheme,
    measured.release,
    measured.is_whole as is_default,
    schemes.description as scheme_description,
    schemes.target,
    measured.unit_count,
    measured.rating_count,
    measured.distinct_label_count,
    measured.min_annotator_count,
    measured.max_annotator_count,
    measured.mean_majority_share,
    measured.mean_entropy,
    measured.observed_disagreement,
    measured.expected_disagreement,
    measured.krippendorff_alpha,
    measured.krippendorff_alpha - measured.margin as krippendorff_alpha_low,
    case when measured.margin is not null
        then least(measured.krippendorff_alpha + measured.margin, 1)
    end as krippendorff_alpha_high,
    measured.krippendorff_alpha_ordinal,
    measured.subset_count,
    measured.subset_alpha_low,
    measured.subset_alpha_high,
    case
        when measured.krippendorff_alpha - measured.margin <= 0 then 'not told apart from chance'
        when measured.krippendorff_alpha < 0.2 then 'little better than chance'
        when measured.krippendorff_alpha < 0.667 then 'too low for conclusions'
        when measured.krippendorff_alpha < 0.8 then 'tentative conclusions only'
        when measured.krippendorff_alpha is not null then 'reliable'
    end as reading,
    measured.fleiss_kappa,
from measured
inner join main.schemes on schemes.scheme = measured.scheme
