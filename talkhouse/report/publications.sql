select
    releases.title, publications.release,
    count(distinct publications.dialogue_id),
    count(distinct publications.dialogue_id) filter (publications.is_default),
    releases.description,
from bi.publications
left join main.releases using (corpus_id, release)
where corpus_id = $corpus
group by releases.title, publications.release, releases.description, releases.release_index
order by releases.release_index nulls last, publications.release
