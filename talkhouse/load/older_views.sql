-- Functions are named in full: in a file, a macro of the same name would come before DuckDB's own.
select 'view', schema_name, view_name
from system.main.duckdb_views() where not internal and database_name = system.main.current_database()
union
select if(function_type = 'macro', 'macro', 'macro table'), schema_name, function_name
from system.main.duckdb_functions() where not internal and database_name = system.main.current_database()
