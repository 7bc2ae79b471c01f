select source_file_id, path, member from meta.source_files
where corpus_id = $corpus and kind not in ('archive', 'skipped')
union
select source_file_id, path, member from fresh.meta.source_files where kind not in ('archive', 'skipped')
