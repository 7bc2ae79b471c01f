-- Normalised discounted cumulative gain of one right answer, cut after so many places, as the mean over the orders of those that are tied with it; 0 for a missing prediction.
(above, tied, cutoff) as
coalesce(
    list_avg(
        list_transform(
            range((above + 1)::bigint, (above + tied + 1)::bigint),
            lambda place: case when place <= cutoff then 1.0::double / log2(1 + place) else 0.0::double end
        )
    ),
    0.0
)
