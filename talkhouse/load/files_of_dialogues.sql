create or replace temp table files_of_dialogues as
select distinct ${base} as base, path
from main.records inner join meta.source_files using (source_file_id)
where records.corpus_id = $corpus and dialogue_id is not null
