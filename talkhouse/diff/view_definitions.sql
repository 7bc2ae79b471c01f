select schema_name || '.' || view_name, sql
from duckdb_views() where not internal and database_name = current_database()
union all
select schema_name || '.' || function_name, concat_ws(' ', parameters, macro_definition)
from duckdb_functions() where not internal and database_name = current_database()
order by all
