select lower(schema_name || '.' || table_name) from system.main.duckdb_tables()
where database_name = system.main.current_database() and not internal
union all
select lower(schema_name || '.' || view_name) from system.main.duckdb_views()
where database_name = system.main.current_database() and not internal
