-- Of tables whose rows follow from the files, the numbers of rows count.
select sha256(concat_ws(chr(10),
    (select string_agg(concat_ws(chr(31), source_file_id, sha256, records_loaded), chr(10) order by source_file_id)
        from ${database}.meta.source_files),
    (select string_agg(concat_ws(chr(31), corpus_id, reader_version::varchar, declaration), chr(10) order by corpus_id)
        from ${database}.main.corpora),
    (select concat_ws(chr(31), talkhouse_version, schema_revision, catalogue_hash)
        from ${database}.meta.loads order by load_id desc limit 1),
    (select count(*)::varchar from ${database}.main.records),
    (select count(*)::varchar from ${database}.main.turns),
    (select count(*)::varchar from ${database}.main.texts),
    (select count(*)::varchar from ${database}.main.candidates),
    (select count(*)::varchar from ${database}.main.personas),
    (select count(*)::varchar from ${database}.main.persona_uses),
    (select count(*)::varchar from ${database}.main.examples)
))
