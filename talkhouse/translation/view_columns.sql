select distinct on (columns.schema_name, columns.table_name, columns.column_index)
    columns.schema_name || '.' || columns.table_name as view,
    columns.column_name as name,
    columns.data_type as type,
    coalesce(columns.comment, '') as comment,
from duckdb_columns() as columns
semi join duckdb_views() as views
    on views.database_oid = columns.database_oid and views.view_oid = columns.table_oid and not views.internal
order by columns.schema_name, columns.table_name, columns.column_index
