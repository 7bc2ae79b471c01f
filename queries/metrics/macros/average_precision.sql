-- Average precision: of each positive, the share of positives among the examples with its score or a higher one; null without a positive.
(is_positive, positives_so_far, examples_so_far) as
fsum(
    positives_so_far::double / examples_so_far
    order by positives_so_far::double / examples_so_far
) filter (where is_positive)
/ nullif(count_if(is_positive), 0)
