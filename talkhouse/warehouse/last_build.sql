select load_id, finished_at::varchar as finished_at, talkhouse_version, catalogue_hash, schema_revision
from ${database}.meta.loads order by load_id desc limit 1
