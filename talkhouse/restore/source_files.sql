select source_file_id, path, member, kind, note, sha256, size
from meta.source_files
where corpus_id = ?
order by source_file_id
