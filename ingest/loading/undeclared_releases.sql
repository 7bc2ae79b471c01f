insert into main.releases by name
select
    corpus_id,
    release,
    row_number() over (order by release) - 1
        + (select count(*) from main.releases where corpus_id = $corpus) as release_index,
from (select distinct corpus_id, release from main.records where corpus_id = $corpus and release is not null)
anti join main.releases using (corpus_id, release)
