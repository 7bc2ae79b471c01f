select
    is_default, scheme, release, target, unit_count, rating_count,
    case when min_annotator_count = max_annotator_count then max_annotator_count::varchar
        else min_annotator_count || ' to ' || max_annotator_count
    end as annotators,
    mean_majority_share, krippendorff_alpha,
    format('{:.3f} to {:.3f}', krippendorff_alpha_low, krippendorff_alpha_high) as interval,
    case when subset_count > 1 then format('{:.3f} to {:.3f}', subset_alpha_low, subset_alpha_high) end as subsets,
    krippendorff_alpha_ordinal,
    reading, fleiss_kappa,
from bi.scheme_agreement order by scheme, release
