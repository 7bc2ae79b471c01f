with ${before}scored as materialized (${scored}),
itself as materialized (select document from main.documents where owner = $owner and turn_index = $turn),
others as (select * from scored where document not in (select document from itself)${of_dialogues}),
counted as (select group_no, count(*) as texts from others group by group_no),
best as (
    -- What differs after nine decimals is the order in which a sum was added up.
    select document, group_no, round(score, 9) as score
    from others
    where group_no in (select unnest($groups::integer[]))
    order by score desc, document
    limit $limit offset $offset
)
select
    (select list(struct_pack(group_no, texts)) from counted),
    (
        select list(struct_pack(document, group_no, score, owner, turn_index) order by score desc, document)
        from best inner join main.documents using (document, group_no)
    )
