select table_name from system.main.duckdb_tables()
where database_name = system.main.current_database() and estimated_size > 0
    and (schema_name, table_name) not in (('meta', 'alembic_version'), ('meta', 'loads'))
limit 1
