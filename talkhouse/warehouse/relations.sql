select schema_name as schema, view_name as name, comment
from duckdb_views() where not internal and database_name = current_database()
union all
select schema_name, table_name, comment from duckdb_tables() where database_name = current_database()
order by all
