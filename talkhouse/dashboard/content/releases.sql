select releases.release, releases.title, releases.description, count(*) as records
from main.releases
inner join main.records using (corpus_id, release)
where corpus_id = $corpus
group by all
order by min(release_index)
