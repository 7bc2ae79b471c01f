with stated as (select record_id, sum(stated) as stated from (${stated}) group by record_id)

select
    records.corpus_id as corpus,
    records.record_id as id,
    if(
        records.dialogue_id is null,
        hash(subset, ${release}, records.native_id, records.extra::varchar, stated.stated),
        hash(subset, ${release}, ${dialogue})
    ) as content,
    1 as size,
    ${release} as release,
    subset,
    split,
    row_number() over (order by ${release}, subset, split, source_file_id, record_index, records.record_id) as number,
from ${side}.main.records
left join stated on stated.record_id = records.record_id and records.dialogue_id is null
${mapped}
where ${of_corpora} and ${of_records}
