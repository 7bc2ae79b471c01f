-- How many words two lists of words have in common, each as often as both have it.
(one, other) as
coalesce(
    list_sum(
        list_transform(
            list_intersect(one, other),
            lambda word: least(
                len(list_filter(one, lambda each: each = word)), len(list_filter(other, lambda each: each = word))
            )
        )
    ),
    0
)
