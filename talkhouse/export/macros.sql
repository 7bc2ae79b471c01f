select lower(if(schema_name = 'main', '', schema_name || '.') || function_name)
from system.main.duckdb_functions()
where not internal and database_name = system.main.current_database() and function_type = 'macro'
