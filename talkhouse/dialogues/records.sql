select
    records.* exclude (source_file_id, source_pointer),
    struct_pack(
        source_file_id := records.source_file_id,
        path := source_files.path,
        member := source_files.member,
        sha256 := source_files.sha256,
        size := source_files.size,
        pointer := records.source_pointer
    ) as source,
from main.records
left join meta.source_files using (source_file_id)
where records.${key} in (${ids})
order by record_id
