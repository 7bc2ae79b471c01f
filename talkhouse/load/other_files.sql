select path, member from meta.source_files
where corpus_id = $corpus and kind <> 'archive' and path not in (select unnest($gone::varchar[]))
