create or replace temp table "?pairs" as
select
    ${both}, ${raw},
    before."?row" as before, after."?row" as after,
    before.by_0 as before_by_0, before.by_1 as before_by_1, after.by_0 as after_by_0, after.by_1 as after_by_1,
    before.raw_record <> after.raw_record as has_other_record,
    case
        when before."?row" is null then 'added'
        when after."?row" is null then 'removed'
        when before.split_hash <> after.split_hash then 'moved'
        when before.content_hash <> after.content_hash then 'changed'
        when before.place_hash <> after.place_hash then 'renumbered'
        else 'same'
    end as change,
from "?narrow before" as before
full join "?narrow after" as after on ${same}
where change <> 'same'
