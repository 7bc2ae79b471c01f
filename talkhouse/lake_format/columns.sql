select schema_name || '.' || table_name, column_name, data_type
from duckdb_columns()
where database_name = coalesce(?, current_database()) and not internal
order by all
