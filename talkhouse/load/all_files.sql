select false as is_now, source_file_id, path, member from meta.source_files
where corpus_id = $corpus and kind not in ('archive', 'skipped')
union all
select true, source_file_id, path, member from meta.source_files
where corpus_id = $corpus and kind not in ('archive', 'skipped') and path not in (select unnest($gone::varchar[]))
union all
select true, source_file_id, path, member from fresh.meta.source_files where kind not in ('archive', 'skipped')
