with views as (
    select schema_name, view_name, sql from duckdb_views() where database_name = $database and not internal
),

named as (
    select views.*, tasks.view_name as task, substr(views.view_name, len(tasks.view_name) + 2) as split
    from views
    inner join views as tasks
        on views.schema_name = tasks.schema_name and starts_with(views.view_name, tasks.view_name || '_')
),

-- DuckDB writes both alike: what it stored of the view, and what the view of that split would be. In a warehouse of
-- 0.6 or before it has all releases.
expected as (
    select
        *,
        json_deserialize_sql(json_serialize_sql(format(
            'select * from "{}"."{}" where split = ''{}''{}',
            replace(schema_name, '"', '""'),
            replace(task, '"', '""'),
            replace(split, '''', ''''''),
            case when only_default then ' and is_default' else '' end
        ))) as query
    from named cross join (values (false), (true)) as forms(only_default)
)

select schema_name || '.' || view_name, schema_name || '.' || task, split, only_default
from expected
where ends_with(sql, ' AS ' || query || ';')
order by all
