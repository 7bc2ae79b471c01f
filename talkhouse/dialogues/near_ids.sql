with known as (
    select record_id as id, record_id as name, corpus_id from main.records
    union all
    select dialogue_id, dialogue_id, corpus_id from main.dialogues
    union all
    select dialogue_id, native_id, corpus_id from main.dialogues where native_id is not null
),
of_corpus as (
    select corpus_id
    from main.corpora
    where starts_with($name, corpus_id || ':') or starts_with($name, corpus_id || '/')
)
select id
from known
where corpus_id in (from of_corpus) or not exists (from of_corpus)
group by id
order by max(starts_with(name, $name)) desc, max(jaro_winkler_similarity(name, $name)) desc, id
limit $nearest
