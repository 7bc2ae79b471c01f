-- Each input file, or member of an archive, with how many of its records were loaded.
-- grain: source_file_id
-- terms: none
--   source_file_id: The file: its path, and after '!' the path inside an archive.
--   corpus_id: Corpus of the file.
--   path: Path of the file on disk, inside the data folder.
--   member: Path inside the archive; null: the file itself.
--   kind: What kind of file of its corpus it is.
--   size: Size in bytes of the file, or of the unpacked member.
--   records_in: Records of the file.
--   records_loaded: Of these, records that are in the tables.
--   records_quarantined: Of these, records that could not be loaded.
--   note: Why it has no records, where it has none.
select
    corpus_id,
    source_file_id,
    path,
    member,
    kind,
    size,
    records_in,
    records_loaded,
    records_quarantined,
    note,
from meta.source_files
