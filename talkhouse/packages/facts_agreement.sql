select
    release,
    unit_count as units,
    round(mean_majority_share, ${places}) as mean_majority_share,
    round(krippendorff_alpha, ${places}) as krippendorff_alpha,
    round(fleiss_kappa, ${places}) as fleiss_kappa
from ${db}.bi.scheme_agreement
where scheme = ${scheme}
-- Of several releases each is told, and not what they are together.
qualify count(*) over () = 1 or not is_default
order by release nulls first
