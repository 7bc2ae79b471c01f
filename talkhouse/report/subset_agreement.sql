select scheme, release, split, subset, unit_count, rating_count, mean_majority_share, krippendorff_alpha
from bi.subset_agreement order by scheme, release, split, subset
