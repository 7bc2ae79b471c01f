create or replace temp table "?frequent" as
select corpus, said, count(*) as times
from (select corpus, said from "?turns before" union all select corpus, said from "?turns after")
group by all
