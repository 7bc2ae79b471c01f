-- Functions are named in full: in a file, a macro of the same name would come before DuckDB's own.
select tables.table_name, columns.column_name, columns.data_type
from system.main.duckdb_tables() as tables
inner join system.main.duckdb_columns() as columns
    on columns.database_name = tables.database_name and columns.table_oid = tables.table_oid
where tables.database_name = system.main.current_database() and tables.schema_name = $1
order by tables.table_name, columns.column_index
