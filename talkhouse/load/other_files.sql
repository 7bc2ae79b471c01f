select path, member from meta.source_files
where corpus_id = $corpus and kind not in ('archive', 'skipped') and path not in (select unnest($gone::varchar[]))
