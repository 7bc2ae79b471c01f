-- Whether the right one is among the first: of a list with so many above it and so many tied with it (itself included), the share of orders in which it is; 0 for a missing prediction.
(above, tied, cutoff) as
coalesce(least(greatest(cutoff - above, 0), tied)::double / tied, 0.0)
