-- Each record with the file that it came from, the file's checksum, and the record's place in it.
-- grain: record_id
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue, and for records of neither a dialogue nor a publisher's release: filter by it to count a dialogue once that several of the publisher's releases have.
--   record_id: Join annotations, candidates, persona_uses and examples by it.
--   dialogue_id: Join turns by it: a row for every record that published the dialogue; null if the record has no dialogue.
--   source_file_id: The file: its path, and after '!' the path inside an archive.
--   native_id: The publisher's id of the record, verbatim.
--   path: Path of the file on disk, inside the data folder.
--   member: Path inside the archive; null: the file itself.
--   sha256: SHA-256 of the bytes of the file, or of the unpacked member.
--   size: Size in bytes of the file, or of the unpacked member.
--   source_pointer: JSON pointer, or the number of the record or line from 0, in that file; empty for the whole file.
select
    records.record_id,
    records.dialogue_id,
    records.corpus_id,
    records.native_id,
    records.subset,
    records.release,
    -- Records in no publisher's release and no split say more of a dialogue; they are no publication of it.
    (records.release is null and records.split is null)
    or coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
    records.split,
    records.standard_split,
    records.source_file_id,
    source_files.path,
    source_files.member,
    source_files.sha256,
    source_files.size,
    records.source_pointer,
from main.records
inner join meta.source_files on source_files.source_file_id = records.source_file_id
left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
