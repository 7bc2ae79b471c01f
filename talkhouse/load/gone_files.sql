create or replace temp table gone_files as
select source_file_id from meta.source_files where path in (select unnest($gone::varchar[]))
