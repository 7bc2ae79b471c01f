-- 1 / rank of the right one, as the mean over the orders of those that are tied with it; 0 for a missing prediction.
(above, tied) as
coalesce(
    case
        when tied = 1 then 1.0::double / (above + 1)
        else list_avg(list_transform(range((above + 1)::bigint, (above + tied + 1)::bigint), lambda place: 1.0::double / place))
    end,
    0.0
)
