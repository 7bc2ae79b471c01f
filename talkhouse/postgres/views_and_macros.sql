select sql from duckdb_views() where not internal
union all
select concat_ws(' ', schema_name, function_name, parameters, macro_definition)
from duckdb_functions()
where not internal and database_name not in ('system', 'temp')
order by all
