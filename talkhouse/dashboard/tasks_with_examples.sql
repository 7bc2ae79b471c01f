-- The views of tasks that have a first example: there are few of these, and millions of examples.
select views.schema_name || '.' || views.view_name
from duckdb_views() as views
inner join main.examples
    on examples.corpus_id = views.schema_name and examples.task = views.view_name and examples.example_index = 0
where views.database_name = current_database()
group by all
order by all
