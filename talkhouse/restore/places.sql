with
${spans},
places as (
    select source_file_id, record_id, null as pointer, dialogue_id, subset, release, split, record_index, rowid as place
    from main.records where corpus_id = $corpus
    union all
    select source_file_id, null, pointer, null, subset, release, split, coalesce(record_index, 0), rowid
    from meta.quarantine where corpus_id = $corpus
    union all
    select source_file_id, null, null, null, null, null, null, -1, null
    from meta.source_files
    where corpus_id = $corpus and kind = 'read' and (extra is not null or records_in = 0)
),
lists as (
    select source_file_id from places group by source_file_id having count(distinct record_index) < count(*)
),
ordered as (
    select *, if(source_file_id in (from lists), min(place) filter (pointer is null) over (
        partition by source_file_id, subset, release, split
    ), 0) as list_place
    from places
)
select
    source_file_id,
    coalesce(ordered.record_id, pointer, ''),
    coalesce(ordered.dialogue_id, ''),
    pointer is not null,
    place,
    ${columns}
from ordered
${joins}
order by source_file_id, record_index >= 0, list_place, record_index, ordered.record_id, pointer
