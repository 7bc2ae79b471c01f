select concat_ws(chr(31), 'table', schema_name, table_name, sql, comment)
from system.main.duckdb_tables() where database_name = $1
union all
select concat_ws(chr(31), 'view', schema_name, view_name, sql, comment)
from system.main.duckdb_views() where database_name = $1 and not internal
union all
select concat_ws(chr(31), 'column', schema_name, table_name, column_name, comment)
from system.main.duckdb_columns() where database_name = $1 and not internal
union all
select concat_ws(chr(31), 'macro', schema_name, function_name, parameters::varchar, macro_definition, comment)
from system.main.duckdb_functions() where database_name = $1 and not internal
order by all
