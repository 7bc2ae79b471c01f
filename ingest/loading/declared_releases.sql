create or replace temp table declared as
select
    corpus_id, release,
    row_number() over (order by declared.release_index nulls last, older.release_index) - 1 as release_index,
    coalesce(declared.title, older.title) as title, coalesce(declared.description, older.description)
from (from main.releases where corpus_id = $id) as older full join declared using (corpus_id, release)
