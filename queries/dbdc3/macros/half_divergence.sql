-- One half of the Jensen-Shannon divergence as the challenge's script adds it up: the terms of one distribution against the mean of both; those at or below 0 and those that are no number are left out.
(own, means) as
list_sum(
    list_transform(
        list_zip(own, means),
        lambda pair: case
            when pair[1] > 0 and not isnan(pair[1]) then pair[1] * (ln(pair[1] / pair[2]) / ln(2))
            else 0.0::double
        end
    )
)
