-- Each person with a persona, by split, with how many personas (sentences, or pictures with their titles) describe him or her.
-- grain: corpus_id, release, split, standard_split, speaker_id
--   corpus_id: Corpus of the person.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   speaker_name: Name or alias of the person; null where none is published.
--   persona_count: Different personas of the person in the split, from all lists that its records have.
--   dialogue_count: Dialogues of the split in which the person has one.
select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    persona_uses.speaker_id,
    min(speakers.name) as speaker_name,
    count(distinct persona_uses.persona_id) as persona_count,
    count(distinct persona_uses.dialogue_id) as dialogue_count,
from main.persona_uses
inner join main.records on records.record_id = persona_uses.record_id
inner join main.speakers on speakers.speaker_id = persona_uses.speaker_id
where records.extra ->> 'repeats' is null
group by records.corpus_id, records.release, records.split, records.standard_split, persona_uses.speaker_id
