-- What came in is loaded or quarantined: the counts of every source file equal those of the tables.
-- severity: error
-- scope: file
-- remedy: This is a mistake in the corpus's reader: please report it with the file.
with
loaded as (
    select source_file_id, count(*) as record_count
    from main.records
    group by source_file_id
),

quarantined as (
    select source_file_id, count(*) as record_count
    from meta.quarantine
    group by source_file_id
)

select
    source_files.corpus_id,
    source_files.source_file_id,
    source_files.records_in,
    coalesce(loaded.record_count, 0) as loaded,
    coalesce(quarantined.record_count, 0) as quarantined,
from meta.source_files
left join loaded on loaded.source_file_id = source_files.source_file_id
left join quarantined on quarantined.source_file_id = source_files.source_file_id
where source_files.records_loaded <> coalesce(loaded.record_count, 0)
    or source_files.records_quarantined <> coalesce(quarantined.record_count, 0)
    or source_files.records_in <> coalesce(loaded.record_count, 0) + coalesce(quarantined.record_count, 0)
