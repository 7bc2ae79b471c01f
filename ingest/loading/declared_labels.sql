-- What no declaration knows has no index.
create or replace temp table declared as
select
    scheme, label, coalesce(declared.meaning, older.meaning) as meaning,
    if(declared.scheme is null, older.namespace, declared.namespace) as namespace,
    case when coalesce(declared.label_index, older.label_index) is not null then row_number() over (
        partition by scheme order by declared.label_index nulls last, older.label_index nulls last
    ) - 1 end as label_index
from (from main.labels where starts_with(scheme, $id || '.')) as older full join declared using (scheme, label)
