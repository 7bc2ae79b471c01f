-- The files of each corpus by what became of them, and why, with the first five names.
select
    corpus_id,
    kind,
    note,
    count(*) as file_count,
    sum(records_in) as records,
    list(source_file_id order by source_file_id)[1:5] as examples,
from meta.source_files
group by corpus_id, kind, note
order by all
