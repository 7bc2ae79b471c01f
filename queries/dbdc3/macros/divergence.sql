-- The Jensen-Shannon divergence (base 2, not its root) of two distributions, as the challenge's script computes it.
(gold, predicted) as
(
    dbdc3.half_divergence(gold, list_transform(list_zip(gold, predicted), lambda pair: (pair[1] + pair[2]) / 2))
    + dbdc3.half_divergence(predicted, list_transform(list_zip(gold, predicted), lambda pair: (pair[1] + pair[2]) / 2))
) / 2
