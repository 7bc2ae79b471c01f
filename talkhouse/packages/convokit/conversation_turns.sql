(
    select
        dialogue_id,
        case when bool_and(said_at is not null and isfinite(said_at)) then 'published' else 'position' end as timestamps
        ${replies}
    from (select * ${is_tree} from ${turns})
    group by dialogue_id
)
