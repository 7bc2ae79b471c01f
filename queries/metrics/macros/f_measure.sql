-- The F-measure of precision and recall: of so many hits, so many predicted and so many right ones; 0 without a hit.
(hits, predicted, gold) as
case
    when hits > 0
        then 2 * (hits::double / predicted) * (hits::double / gold) / (hits::double / predicted + hits::double / gold)
    else 0.0::double
end
