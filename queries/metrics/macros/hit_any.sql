-- Whether one of several right ones is among the first: so many above the best of them, so many with its score, so many right ones among these; the share of orders in which it is.
(above, tied, right_ones, cutoff) as
1 - coalesce(
    list_product(
        list_transform(
            range(least(greatest(cutoff - above, 0), tied)::bigint),
            lambda place: greatest(tied - right_ones - place, 0)::double / (tied - place)
        )
    ),
    1.0::double
)
