-- A macro of the warehouse may have the name of any of these functions.
select sql from system.main.duckdb_views()
where not internal and database_name = system.main.current_database()
union all
select system.main.concat_ws(' ', schema_name, function_name, parameters, macro_definition)
from system.main.duckdb_functions()
where not internal and database_name = system.main.current_database()
order by all
