select splits.task, comments.comment, release, split, example_count, dialogue_count, turn_count
from bi.splits
left join duckdb_views() as comments
    on comments.database_name = current_database()
    and comments.schema_name = $corpus
    and comments.view_name = splits.task
where corpus_id = $corpus
order by
    splits.task,
    release nulls first,
    list_position(['train', 'validation', 'test'], standard_split) nulls last,
    split
