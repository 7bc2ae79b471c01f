-- Each dialogue of a corpus that was published more than once, with the publisher's release of its default publication: the first, in the corpus's order of preference, that has a record of it.
-- grain: dialogue_id
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; never null here.
--   release_index: 0-based position of the publisher's release in main.releases.
select
    records.corpus_id,
    records.dialogue_id,
    min_by(releases.release, releases.release_index) as release,
    min(releases.release_index) as release_index,
from main.records
inner join main.releases
    on releases.corpus_id = records.corpus_id and releases.release = records.release
where records.dialogue_id is not null
group by records.corpus_id, records.dialogue_id
