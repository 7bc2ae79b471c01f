-- Not where its files came from: that is a path on a user's machine.
select
    load_id, finished_at, talkhouse_version, schema_revision, catalogue_hash,
    (select count(*) from meta.source_files) as file_count,
    (select coalesce(sum(size) filter (where member is null), 0) from meta.source_files) as byte_count,
    (
        select sha256(string_agg(sha256 || '  ' || source_file_id, chr(10) order by source_file_id))
        from meta.source_files
    ) as sources_hash,
from meta.loads order by load_id desc limit 1
