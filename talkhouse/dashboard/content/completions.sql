select schema_name || '.' || table_name, list([column_name, data_type] order by column_index)
from duckdb_columns()
where database_name = current_database() and not internal
group by all
order by all
