select releases.release, releases.title, defaults.release is not null as is_default
from main.releases
left join bi.default_releases as defaults
    on defaults.release = releases.release and defaults.corpus_id = releases.corpus_id
    and defaults.dialogue_id = $dialogue
where releases.corpus_id = $corpus
order by releases.release_index
