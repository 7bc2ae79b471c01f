select schema_name, table_name, column_name as name, data_type as type, comment as meaning
from duckdb_columns()
where database_name = current_database()
order by column_index
