with ${before}scored as materialized (${scored}),
itself as materialized (select document from main.documents where owner = $owner and turn_index = $turn),
others as (select * from scored where document not in (select document from itself)${of_dialogues}),
counted as (select group_no, count(*) as texts from others group by group_no),
chosen as (
    -- What differs after nine decimals is the order in which a sum was added up.
    select document, round(score, 9) as score
    from others
    where group_no in (select unnest($groups::integer[]))
),
-- The order of equal scores is looked up for those alone that may be among the best.
least as (select min(score) as score from (select score from chosen order by score desc limit $limit + $offset)),
best as (
    select groups.group_no, chosen.score, owner, turn_index, list_position([${ranks}], kind) as kind_no
    from chosen
    inner join least on chosen.score >= least.score
    inner join main.documents using (document)
    inner join main.groups using (group_no)
    order by chosen.score desc, kind_no, owner, turn_index
    limit $limit offset $offset
)
select
    (select list(struct_pack(group_no, texts)) from counted),
    (
        select list(struct_pack(group_no, score, owner, turn_index) order by score desc, kind_no, owner, turn_index)
        from best
    )
